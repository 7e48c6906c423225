-- What the AI would send or change for somebody: written down, approved, and executed once.

CREATE TABLE drafts (
    family_id       uuid NOT NULL REFERENCES families,
    id              uuid NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('suggested_nag', 'due_change', 'push_back', 'consequence')),
    nag_id          uuid,
    author_id       uuid NOT NULL REFERENCES users,
    source          text NOT NULL CHECK (source IN ('keyboard', 'camera', 'gallery', 'document', 'voice', 'shortcut')),
    -- What the execution does: the API's body of this kind.
    body            json NOT NULL,
    context_ids     uuid[] NOT NULL CHECK (cardinality(context_ids) <= 20),
    citations       uuid[] NOT NULL CHECK (citations <@ context_ids),
    model           text NOT NULL,
    confidence      double precision CHECK (confidence BETWEEN 0 AND 1),
    -- What constraints say of the author's words: a JSON array of texts.
    warnings        json NOT NULL,
    state           text NOT NULL CHECK (state IN ('draft', 'approved', 'confirmed', 'executed', 'rejected', 'expired')),
    -- Each edit makes the next one, and voids approval and key.
    version         integer NOT NULL CHECK (version BETWEEN 1 AND 1000000),
    approved_by     uuid REFERENCES users,
    approved_at     timestamptz,
    -- The second key: SHA-256 of the secret, and who may use it until when. Null when it was used.
    key_digest      bytea CHECK (length(key_digest) = 32),
    key_owner       uuid REFERENCES users,
    key_expires_at  timestamptz,
    confirmed_at    timestamptz,
    executed_by     uuid REFERENCES users,
    executed_at     timestamptz,
    -- What the execution made or changed.
    result_id       uuid,
    trace_id        uuid NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    PRIMARY KEY (family_id, id),
    CHECK ((kind <> 'suggested_nag') <= (nag_id IS NOT NULL)),
    CHECK ((state IN ('approved', 'confirmed', 'executed')) <= (approved_by IS NOT NULL AND approved_at IS NOT NULL)),
    CHECK ((state IN ('confirmed', 'executed')) <= (confirmed_at IS NOT NULL)),
    CHECK ((state = 'confirmed')
           = (key_digest IS NOT NULL AND key_owner IS NOT NULL AND key_expires_at IS NOT NULL)),
    CHECK ((state = 'executed') = (executed_by IS NOT NULL AND executed_at IS NOT NULL AND result_id IS NOT NULL))
);
CREATE INDEX drafts_of_author ON drafts (family_id, author_id, id);
CREATE INDEX drafts_by_age ON drafts (created_at);
CREATE INDEX open_drafts ON drafts (expires_at) WHERE state IN ('draft', 'approved', 'confirmed');
GRANT SELECT, INSERT, DELETE ON drafts TO nagz_server;
GRANT UPDATE (body, state, version, approved_by, approved_at, key_digest, key_owner, key_expires_at, confirmed_at,
              executed_by, executed_at, result_id, updated_at) ON drafts TO nagz_server;
