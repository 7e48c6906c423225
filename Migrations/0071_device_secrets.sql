-- What a device keeps from one sign-in to the next, so that strangers who use up an account's attempts do not lock it out.

CREATE TABLE device_secrets (
    -- SHA-256.
    secret_hash  bytea PRIMARY KEY CHECK (length(secret_hash) = 32),
    user_id      uuid NOT NULL REFERENCES users,
    -- The last session that began with it. The secret stays when that ends.
    session_id   uuid NOT NULL,
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL
);
CREATE INDEX device_secrets_of_user ON device_secrets (user_id);
CREATE INDEX device_secrets_by_use ON device_secrets (last_used_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON device_secrets TO nagz_server;
