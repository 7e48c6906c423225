-- What the sending of a delivery needs. `next_attempt` is when it is due; a worker that takes it moves that on by the length
-- of its lease and counts the attempt, so that no other worker has it meanwhile.
ALTER TABLE deliveries
    -- Why it failed, was dropped, or is tried again: a code, and what the provider said.
    ADD COLUMN failure text CHECK (length(failure) BETWEEN 1 AND 200),
    -- Whether it failed because it was not needed any more. A failed one that was not dropped is a dead letter.
    ADD COLUMN dropped boolean NOT NULL DEFAULT false CHECK (status = 'failed' OR NOT dropped),
    -- The devices whose provider has acknowledged it: an attempt for the others leaves them out.
    ADD COLUMN acknowledged uuid[] NOT NULL DEFAULT '{}' CHECK (cardinality(acknowledged) <= 100);

-- Each channel has a queue of its own.
DROP INDEX deliveries_due;
CREATE INDEX deliveries_due ON deliveries (channel, next_attempt) WHERE status = 'pending';
-- The administrators' lists, of one status and of all, and one delivery by its id.
CREATE INDEX deliveries_by_status ON deliveries (status, created_at, id);
CREATE INDEX deliveries_by_age ON deliveries (created_at, id);
CREATE INDEX deliveries_by_id ON deliveries (id);
