-- People are notified when a device moves to another account, and when a co-owner who left is to be replaced.

ALTER TABLE deliveries
    DROP CONSTRAINT deliveries_have_cause,
    ADD CONSTRAINT deliveries_have_cause CHECK (
        CASE WHEN family_notice IS NOT NULL
                 THEN family_notice IN ('codes_renewed', 'child_code_renewed', 'device_moved', 'co_owner_proposed')
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

-- The owner who left or was removed, while the policy waits for another co-owner.
ALTER TABLE policies ADD COLUMN left_owner uuid;

-- Apple's tokens are hexadecimal numbers, which are stored in lower case. Of two spellings of one token the later one stays.
DELETE FROM devices old USING devices newer
WHERE old.token ~ '^[0-9A-Fa-f]+$' AND lower(old.token) = lower(newer.token) AND newer.token ~ '^[0-9A-Fa-f]+$'
    AND (old.created_at, old.id) < (newer.created_at, newer.id);
UPDATE devices SET token = lower(token) WHERE token ~ '^[0-9A-Fa-f]+$' AND token <> lower(token);
