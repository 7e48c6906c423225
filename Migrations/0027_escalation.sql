-- How far a nag has escalated, and when the scheduler has to look at it next.
ALTER TABLE nags
    -- The last phase that was reached; it stays when the nag ends.
    ADD COLUMN phase smallint NOT NULL DEFAULT 0 CHECK (phase BETWEEN 0 AND 4),
    -- Null: since the present due cycle began.
    ADD COLUMN phase_since timestamptz,
    -- No later than the next step of an open nag. It may be earlier: whoever looks then finds out the exact moment.
    ADD COLUMN next_step_at timestamptz NOT NULL DEFAULT 'epoch';
-- What is due is one stretch of it, however many nags are open.
CREATE INDEX nags_due_step ON nags (next_step_at, family_id, id) WHERE status = 'open';
