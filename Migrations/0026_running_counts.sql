-- What every request of the mediator, every page of the feed and every round of the sequencer asks for costs the same however
-- long the history is and however many families there are.

-- How many nags of each category a member has completed or missed so far.
CREATE TABLE resolved_nags (
    family_id uuid NOT NULL,
    user_id   uuid NOT NULL,
    category  text NOT NULL,
    total     integer NOT NULL DEFAULT 0 CHECK (total >= 0),
    completed integer NOT NULL DEFAULT 0 CHECK (completed BETWEEN 0 AND total),
    PRIMARY KEY (family_id, user_id, category)
) WITH (fillfactor = 70);
GRANT SELECT, INSERT, UPDATE ON resolved_nags TO nagz_server;

-- A trigger, so that no statement that resolves a nag can forget to count it.
CREATE FUNCTION count_resolved_nag() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.status IN ('completed', 'missed') THEN
        UPDATE resolved_nags SET total = total - 1, completed = completed - (OLD.status = 'completed')::integer
        WHERE family_id = OLD.family_id AND user_id = OLD.recipient_id AND category = OLD.category;
    END IF;
    IF NEW.status IN ('completed', 'missed') THEN
        INSERT INTO resolved_nags AS r (family_id, user_id, category, total, completed)
        VALUES (NEW.family_id, NEW.recipient_id, NEW.category, 1, (NEW.status = 'completed')::integer)
        ON CONFLICT (family_id, user_id, category)
        DO UPDATE SET total = r.total + 1, completed = r.completed + excluded.completed;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count_resolved AFTER INSERT ON nags FOR EACH ROW
    WHEN (NEW.status IN ('completed', 'missed')) EXECUTE FUNCTION count_resolved_nag();
CREATE TRIGGER recount_resolved AFTER UPDATE OF status, recipient_id, category ON nags FOR EACH ROW
    WHEN ((OLD.status, OLD.recipient_id, OLD.category) IS DISTINCT FROM (NEW.status, NEW.recipient_id, NEW.category)
          AND (OLD.status IN ('completed', 'missed') OR NEW.status IN ('completed', 'missed')))
    EXECUTE FUNCTION count_resolved_nag();
INSERT INTO resolved_nags (family_id, user_id, category, total, completed)
    SELECT family_id, recipient_id, category, count(*), count(*) FILTER (WHERE status = 'completed')
    FROM nags WHERE status IN ('completed', 'missed') GROUP BY family_id, recipient_id, category;

-- Those of a category that were resolved lately, without those before.
DROP INDEX nags_of_recipient;
CREATE INDEX nags_of_recipient ON nags (family_id, recipient_id, status, category, closed_at);
-- The open ones among old nags, which alone are left in the feed.
CREATE INDEX nags_open ON nags (family_id, sync_ts, id) WHERE status = 'open';

-- Whether the chain may have entries that are not in the Merkle log yet. Every write sets it; the sequencer alone clears it,
-- with the row locked, so that where it is not set nothing waits. It stays set while a family writes: clearing it costs the
-- next write an index entry.
ALTER TABLE family_clock ADD COLUMN awaits_sequencing boolean NOT NULL DEFAULT true;
CREATE INDEX unsequenced ON family_clock (family_id) WHERE awaits_sequencing;
