-- How often one person does what has no other limit.

CREATE TABLE daily_counts (
    user_id     uuid NOT NULL REFERENCES users,
    act         text NOT NULL CHECK (length(act) BETWEEN 1 AND 64),
    day_started timestamptz NOT NULL,
    count       integer NOT NULL CHECK (count >= 1),
    PRIMARY KEY (user_id, act)
);
CREATE INDEX daily_counts_by_age ON daily_counts (day_started);
GRANT SELECT, INSERT, UPDATE, DELETE ON daily_counts TO nagz_server;
