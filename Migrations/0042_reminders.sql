-- An overdue nag's recipient is reminded again. The delivery of the phase stays in the queue for that after it was sent:
-- `next_attempt` is when the next reminder is due.
ALTER TABLE deliveries
    -- The reminders after the first message that were sent or shown on a live socket.
    ADD COLUMN repeats integer NOT NULL DEFAULT 0 CHECK (repeats >= 0);

-- What is due is one stretch of it, however many reminders are due later.
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (channel, next_attempt) WHERE next_attempt IS NOT NULL;

-- The administrators' lists of what nobody needed any more, and of dead letters.
CREATE INDEX deliveries_dropped ON deliveries (created_at, id) WHERE dropped;
CREATE INDEX deliveries_dead ON deliveries (created_at, id) WHERE status = 'failed' AND NOT dropped;
