-- One notification a day of what is due and overdue, for people who prefer that to one for each step.
-- Every row that is there satisfies all of these, so that there is nothing to scan.
-- contract: deliveries.deliveries_have_cause: what 0.1.0 writes satisfies it, because it writes no digest_on.
-- contract: deliveries_of_draft: 0.1.0 does not name it.
-- contract: deliveries_of_draft_by_channel: it refuses less than the one before, which 0.1.0 satisfies.
-- lock: deliveries_of_digest: a second for a million deliveries; writes of deliveries wait that long, reads do not.
-- lock: deliveries_of_draft_by_channel: a second for a million deliveries; writes of deliveries wait that long, reads do not.
-- lock: preferences_digests: a row for each member; a moment.

ALTER TABLE preferences
    -- When the scheduler looks at the person's digest next; null for somebody who wants none.
    ADD COLUMN next_digest_at timestamptz,
    -- The last date, in the person's zone, whose digest was made.
    ADD COLUMN last_digest_on date;
CREATE INDEX preferences_digests ON preferences (next_digest_at) WHERE next_digest_at IS NOT NULL;

UPDATE preferences SET next_digest_at = updated_at WHERE prefs->>'notification_frequency' = 'daily_digest';

-- A notification is of a nag's event, of something that happened to a connection, of a draft that sent a message, or the
-- digest of a date.
ALTER TABLE deliveries
    ADD COLUMN digest_on date,
    DROP CONSTRAINT deliveries_have_cause,
    ADD CONSTRAINT deliveries_have_cause CHECK (
        CASE WHEN digest_on IS NOT NULL
                 THEN nag_id IS NULL AND nag_event_id IS NULL AND connection_event IS NULL AND draft_id IS NULL
             WHEN draft_id IS NOT NULL
                 THEN nag_id IS NULL AND nag_event_id IS NULL AND connection_event IS NULL
             WHEN connection_event IS NOT NULL
                 THEN connection_event IN ('connection_invited', 'connection_accepted')
                      AND nag_id IS NULL AND nag_event_id IS NULL
             ELSE nag_id IS NOT NULL AND nag_event_id IS NOT NULL END) NOT VALID;

-- A digest is delivered to a person once a channel, and so is the message of a draft.
CREATE UNIQUE INDEX deliveries_of_digest ON deliveries (family_id, user_id, channel, digest_on)
    WHERE digest_on IS NOT NULL;
DROP INDEX deliveries_of_draft;
CREATE UNIQUE INDEX deliveries_of_draft_by_channel ON deliveries (family_id, draft_id, user_id, channel)
    WHERE draft_id IS NOT NULL;
