-- The telephone number that a person's text messages go to, and the codes that confirm it.

-- In the form of E.164; null for none. Every row that is there satisfies the check, so that there is nothing to scan.
ALTER TABLE users
    ADD COLUMN phone text,
    ADD CONSTRAINT users_phone_check CHECK (phone ~ '^\+[1-9][0-9]{7,14}$') NOT VALID;

-- One code for each account: a new one ends the older.
CREATE TABLE phone_codes (
    user_id    uuid PRIMARY KEY REFERENCES users,
    -- The number that the code was sent to, and that it confirms.
    phone      text NOT NULL CHECK (phone ~ '^\+[1-9][0-9]{7,14}$'),
    -- Of account, number and code, keyed with the server's token keys: six digits are soon guessed.
    code_hash  bytea NOT NULL CHECK (length(code_hash) = 32),
    -- How often a code was tried.
    attempts   integer NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX phone_codes_by_end ON phone_codes (expires_at);

-- How many codes were sent to a number, and to all of them.
CREATE TABLE phone_code_counts (
    -- A keyed digest: no number is stored.
    subject        bytea PRIMARY KEY CHECK (length(subject) = 32),
    window_started timestamptz NOT NULL,
    count          integer NOT NULL
);
CREATE INDEX phone_code_counts_by_window ON phone_code_counts (window_started);

GRANT SELECT, INSERT, UPDATE, DELETE ON phone_codes, phone_code_counts TO nagz_server;
