-- Tries at children's PINs in a row, counted before a PIN is looked at: after every fifth nobody tries for a while.
CREATE TABLE pin_attempts (
    -- SHA-256 of the child's account, or of a code and a user name that no child has.
    subject      bytea PRIMARY KEY CHECK (length(subject) = 32),
    attempts     integer NOT NULL CHECK (attempts >= 0),
    last_at      timestamptz NOT NULL,
    locked_until timestamptz
);
CREATE INDEX pin_attempts_by_age ON pin_attempts (last_at);

-- Where an account was signed in to from: strangers' tries do not lock it out there.
CREATE TABLE known_addresses (
    user_id      uuid NOT NULL REFERENCES users,
    -- Of account and address, keyed with the server's token keys.
    address_hash bytea NOT NULL CHECK (length(address_hash) = 32),
    last_used_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, address_hash)
);
CREATE INDEX known_addresses_by_age ON known_addresses (last_used_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON pin_attempts, known_addresses TO nagz_server;
