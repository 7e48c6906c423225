-- An instance of a series can be completed from its opening on, and it can be moved without moving the series. The
-- previous release writes neither column: an instance that it makes is open at once, and was never moved.
ALTER TABLE nags
    -- Null for a nag that comes once.
    ADD COLUMN opens_at timestamptz,
    -- The due time that the series gave the instance. Null: the present one.
    ADD COLUMN slot_due_at timestamptz;

-- For the instances that are open now; those of a day and more by UTC's days instead of their family's.
UPDATE nags n SET opens_at = least(
    greatest(
        (SELECT p.due_at FROM nags p WHERE p.family_id = n.family_id AND p.id = n.parent_nag_id),
        (n.due_at AT TIME ZONE 'UTC' - s.length) AT TIME ZONE 'UTC'),
    n.due_at - least(interval '1 day', s.length) * s.share)
FROM (VALUES ('every_5_minutes', interval '5 minutes', 0.5), ('every_15_minutes', interval '15 minutes', 0.5),
             ('every_30_minutes', interval '30 minutes', 0.5), ('hourly', interval '1 hour', 0.5),
             ('daily', interval '1 day', 1), ('weekly', interval '7 days', 1), ('monthly', interval '1 month', 1)
     ) AS s (recurrence, length, share)
WHERE n.status = 'open' AND n.recurrence = s.recurrence;

-- What a refused input answers, as an error response does.
ALTER TABLE inputs
    ADD COLUMN reason text CHECK (length(reason) <= 100),
    ADD COLUMN opens_at timestamptz;
