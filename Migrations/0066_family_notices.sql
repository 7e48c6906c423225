-- Guardians are notified when their family's codes are new, and events of incentive rules have names that read as words.
-- contract: deliveries.deliveries_have_cause: what 0.1.0 writes satisfies it, because it writes no family_notice.

ALTER TABLE deliveries
    -- Of a notification about the family: what has happened.
    ADD COLUMN family_notice text,
    DROP CONSTRAINT deliveries_have_cause,
    ADD CONSTRAINT deliveries_have_cause CHECK (
        CASE WHEN family_notice IS NOT NULL
                 THEN family_notice IN ('codes_renewed', 'child_code_renewed')
                      AND nag_id IS NULL AND nag_event_id IS NULL AND connection_event IS NULL AND draft_id IS NULL
                      AND digest_on IS NULL
             WHEN digest_on IS NOT NULL
                 THEN nag_id IS NULL AND nag_event_id IS NULL AND connection_event IS NULL AND draft_id IS NULL
             WHEN draft_id IS NOT NULL
                 THEN nag_id IS NULL AND nag_event_id IS NULL AND connection_event IS NULL
             WHEN connection_event IS NOT NULL
                 THEN connection_event IN ('connection_invited', 'connection_accepted')
                      AND nag_id IS NULL AND nag_event_id IS NULL
             ELSE nag_id IS NOT NULL AND nag_event_id IS NOT NULL END) NOT VALID;

-- Devices keep the names that they have: the rows' numbers in the feed stay.
UPDATE gamification_events
SET event_type = CASE event_type WHEN 'incentive_points' THEN 'bonus_points' ELSE 'family_reward' END
WHERE event_type IN ('incentive_points', 'incentive_badge');
