-- Pictures of nags. The bytes are kept as they are sent: pictures do not compress, and a part is read without the rest.

CREATE TABLE attachments (
    id           uuid PRIMARY KEY,
    uploader_id  uuid NOT NULL REFERENCES users,
    filename     text NOT NULL CHECK (length(filename) BETWEEN 1 AND 100),
    content_type text NOT NULL CHECK (content_type IN ('image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/heic')),
    size         integer NOT NULL CHECK (size = length(bytes)),
    digest       bytea NOT NULL CHECK (length(digest) = 32),
    created_at   timestamptz NOT NULL,
    is_used      boolean NOT NULL DEFAULT false,
    bytes        bytea NOT NULL
);
ALTER TABLE attachments ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE INDEX attachments_of_uploader ON attachments (uploader_id, id);
CREATE INDEX unused_attachments_by_age ON attachments (created_at) WHERE NOT is_used;

-- Which nag uses an upload: one, once.
CREATE TABLE nag_attachments (
    attachment_id uuid PRIMARY KEY REFERENCES attachments ON DELETE CASCADE,
    family_id     uuid NOT NULL,
    nag_id        uuid NOT NULL,
    position      smallint NOT NULL CHECK (position BETWEEN 1 AND 8),
    FOREIGN KEY (family_id, nag_id) REFERENCES nags (family_id, id)
);
CREATE INDEX attachments_of_nag ON nag_attachments (family_id, nag_id);

-- Whether a nag was made with pictures: the others are read without looking for any.
ALTER TABLE nags ADD COLUMN has_attachments boolean NOT NULL DEFAULT false;
CREATE INDEX nags_with_attachments_by_age ON nags (closed_at) WHERE has_attachments AND closed_at IS NOT NULL;

GRANT SELECT, INSERT, DELETE ON attachments TO nagz_server;
GRANT UPDATE (is_used) ON attachments TO nagz_server;
GRANT SELECT, INSERT ON nag_attachments TO nagz_server;
