-- A digest counts what was completed or missed in a week, whenever it was due.
CREATE INDEX nags_closed ON nags (family_id, closed_at) WHERE closed_at IS NOT NULL;
