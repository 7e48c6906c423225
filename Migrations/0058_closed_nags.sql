-- A digest counts what was completed or missed in a week, whenever it was due.
-- lock: nags_closed: a second for a million nags; writes of nags wait that long, reads do not.
CREATE INDEX nags_closed ON nags (family_id, closed_at) WHERE closed_at IS NOT NULL;
