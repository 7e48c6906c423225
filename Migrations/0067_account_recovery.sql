-- New passwords and email addresses: codes of one use that prove who asks, and when a password was set.

-- When the password was set by its change or with a code; null since sign-up. A sign-in that has checked the password
-- before does not begin a session after.
ALTER TABLE users ADD COLUMN password_set_at timestamptz;

-- The User-Agent of the client that signed in, so that people recognise their sessions.
-- Every row that is there satisfies the check, so that there is nothing to scan.
ALTER TABLE sessions
    ADD COLUMN client text,
    ADD CONSTRAINT sessions_client_check CHECK (length(client) BETWEEN 1 AND 200) NOT VALID;

CREATE TABLE account_codes (
    -- SHA-256 of purpose and code.
    code_hash  bytea PRIMARY KEY CHECK (length(code_hash) = 32),
    user_id    uuid NOT NULL REFERENCES users,
    purpose    text NOT NULL CHECK (purpose IN ('password_reset', 'email_change')),
    -- The address that the code was sent to, and that it confirms.
    new_email  text CHECK ((new_email IS NOT NULL) = (purpose = 'email_change')),
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX account_codes_of_user ON account_codes (user_id);
CREATE INDEX account_codes_by_end ON account_codes (expires_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON account_codes TO nagz_server;
