-- An instance of a series can be completed from its opening on, and it can be moved without moving the series. The
-- previous release writes neither column: an instance that it makes is open at once, and was never moved. So are those
-- that are open now.
ALTER TABLE nags
    -- Null for a nag that comes once.
    ADD COLUMN opens_at timestamptz,
    -- The due time that the series gave the instance. Null: the present one.
    ADD COLUMN slot_due_at timestamptz;

-- What a refused input answers, as an error response does.
ALTER TABLE inputs
    ADD COLUMN reason text,
    ADD COLUMN opens_at timestamptz,
    ADD CONSTRAINT inputs_reason_check CHECK (length(reason) <= 100) NOT VALID;
