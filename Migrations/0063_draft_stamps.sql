-- Who has changed or rejected a draft, when, and a digest of what it does: the log has the same one with each step.

ALTER TABLE drafts
    -- Keyed, in hexadecimal digits; null without a master key, and in earlier rows.
    ADD COLUMN body_hash text,
    ADD COLUMN edited_by uuid,
    ADD COLUMN edited_at timestamptz,
    ADD COLUMN rejected_by uuid,
    ADD COLUMN rejected_at timestamptz;
GRANT UPDATE (body_hash, edited_by, edited_at, rejected_by, rejected_at) ON drafts TO nagz_server;
