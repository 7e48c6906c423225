-- People, how they sign in, and the role the server acts as.

-- The server's role: no ownership, no DDL, only what is granted below and in the later migrations.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nagz_server') THEN
        CREATE ROLE nagz_server NOLOGIN;
    END IF;
    IF NOT pg_has_role(current_user, 'nagz_server', 'MEMBER') THEN
        EXECUTE format('GRANT nagz_server TO %I', current_user);
    END IF;
END $$;

GRANT USAGE ON SCHEMA public TO nagz_server;

CREATE TABLE users (
    id            uuid PRIMARY KEY,
    -- Trimmed and lower-cased; null for children who sign in with a family code.
    email         text UNIQUE CHECK (email = lower(btrim(email)) AND length(email) BETWEEN 3 AND 254),
    display_name  text CHECK (length(display_name) BETWEEN 1 AND 255),
    -- argon2id, in libsodium's own text form; null where there is no password.
    password_hash text,
    date_of_birth date,
    status        text NOT NULL CHECK (status IN ('active', 'pending_guardian_consent', 'deleted')),
    -- Stands for the person in the audit trail; erasure sets it to null and so cuts the trail loose from the person.
    pseudonym     uuid UNIQUE,
    created_at    timestamptz NOT NULL,
    deleted_at    timestamptz,
    CHECK (status <> 'active' OR pseudonym IS NOT NULL)
);

-- One sign-in on one device. Access tokens name it; revoking it ends them at once.
CREATE TABLE sessions (
    id         uuid PRIMARY KEY,
    user_id    uuid NOT NULL REFERENCES users,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    -- A child's session came from a family code, and ends with the membership.
    is_child   boolean NOT NULL DEFAULT false
);
CREATE INDEX sessions_of_user ON sessions (user_id) WHERE revoked_at IS NULL;
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- Refresh tokens, hashed. A token's successor can be computed from it with the server's key, so the grace in which the
-- same token gives the same new pair needs no secret at rest.
CREATE TABLE refresh_tokens (
    token_hash  bytea PRIMARY KEY CHECK (length(token_hash) = 32),
    session_id  uuid NOT NULL REFERENCES sessions ON DELETE CASCADE,
    issued_at   timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    replaced_at timestamptz
);
CREATE INDEX refresh_tokens_of_session ON refresh_tokens (session_id);

-- How often something secret was tried in a window: durable, so that it counts across instances and restarts.
CREATE TABLE sign_in_attempts (
    -- SHA-256 of what is limited (an account, an address, a child's code and name).
    subject        bytea PRIMARY KEY CHECK (length(subject) = 32),
    window_started timestamptz NOT NULL,
    attempts       integer NOT NULL CHECK (attempts >= 0)
);
CREATE INDEX sign_in_attempts_by_age ON sign_in_attempts (window_started);

-- The first answer to a write that came with an Idempotency-Key.
CREATE TABLE idempotency_keys (
    user_id     uuid NOT NULL,
    -- SHA-256 of the client's key, and of the key with method, path and body: the same key with another request is
    -- refused, and who reads this table cannot guess what a request held (a PIN) without knowing its key.
    key         bytea NOT NULL CHECK (length(key) = 32),
    fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
    status      integer NOT NULL,
    body        bytea NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

GRANT SELECT, INSERT, UPDATE ON users, sessions, refresh_tokens, sign_in_attempts TO nagz_server;
GRANT SELECT, INSERT, DELETE ON idempotency_keys TO nagz_server;
GRANT DELETE ON sessions, refresh_tokens, sign_in_attempts TO nagz_server;
