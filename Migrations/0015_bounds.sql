-- How often one person was refused one thing within an hour, so that the audit log need not tell of each time.
CREATE TABLE refusal_counts (
    -- SHA-256 of who was refused what.
    subject        bytea PRIMARY KEY CHECK (length(subject) = 32),
    window_started timestamptz NOT NULL,
    count          bigint NOT NULL CHECK (count > 0)
) WITH (fillfactor = 50);
CREATE INDEX refusal_counts_by_age ON refusal_counts (window_started);
GRANT SELECT, INSERT, UPDATE, DELETE ON refusal_counts TO nagz_server;

-- How many notes somebody added on a day.
CREATE INDEX notes_of_author ON nag_events (family_id, actor_id, at) WHERE event_type = 'note_added';
