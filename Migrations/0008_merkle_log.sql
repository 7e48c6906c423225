-- The Merkle log over all chains, its signed checkpoints, the keys of sealed bodies, pruning, and administrators.
-- Docs: Sources/Audit/README.md.

-- Every entry's place in the log, in the order the sequencer found them.
CREATE TABLE audit_leaf (
    position  bigint PRIMARY KEY CHECK (position >= 0),
    family_id uuid NOT NULL,
    n         bigint NOT NULL,
    -- SHA-256(0x00 ‖ family ‖ n ‖ the entry's hash).
    hash      bytea NOT NULL CHECK (length(hash) = 32),
    -- Sequencing twice is not possible, whoever tries.
    UNIQUE (family_id, n)
);

-- Roots of the perfect subtrees of 256, 65,536, … leaves: with the leaves, the layout of C2SP tlog-tiles.
CREATE TABLE audit_node (
    level    integer NOT NULL CHECK (level BETWEEN 1 AND 7),
    position bigint NOT NULL CHECK (position >= 0),
    hash     bytea NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (level, position)
);

CREATE TABLE audit_checkpoint (
    size bigint NOT NULL CHECK (size >= 0),
    at   timestamptz NOT NULL,
    -- C2SP signed note.
    note text NOT NULL,
    PRIMARY KEY (size, at)
);

-- The public keys the log was ever signed with.
CREATE TABLE audit_key (
    -- <name>+<hash>+<base64>, as C2SP signed-note writes it.
    verifier   text NOT NULL,
    -- The note in which its neighbour vouches for it: the key before it, or the one after; empty where it has none.
    handover   text NOT NULL DEFAULT '',
    first_used timestamptz NOT NULL,
    PRIMARY KEY (verifier, handover)
);

-- What retention has taken: the entries of a family up to a number, with the hash its chain goes on from.
CREATE TABLE audit_prune (
    family_id uuid NOT NULL,
    cut       bigint NOT NULL,
    at        timestamptz NOT NULL,
    note      text NOT NULL,
    PRIMARY KEY (family_id, cut)
);

-- The key that seals what is told of one person, wrapped by the master key, which lives outside the database. Erasing a
-- person deletes the row.
CREATE TABLE audit_subject_key (
    -- The person's pseudonym.
    id      uuid PRIMARY KEY,
    -- Names the master key.
    master  bytea NOT NULL CHECK (length(master) = 4),
    wrapped bytea NOT NULL
);

-- Made by the command line alone: the server may only look.
CREATE TABLE admins (
    user_id    uuid PRIMARY KEY REFERENCES users,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz
);

CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_leaf FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_node FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_checkpoint
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_key FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_prune FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON audit_leaf
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON audit_node
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON audit_checkpoint
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON audit_key
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON audit_prune
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
ALTER TABLE audit_leaf ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE audit_leaf ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE audit_node ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE audit_node ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE audit_checkpoint ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE audit_checkpoint ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE audit_key ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE audit_key ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE audit_prune ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE audit_prune ENABLE ALWAYS TRIGGER append_only_truncate;

-- An entry may go once a prune record covers it.
CREATE FUNCTION audit_goes_only_when_pruned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM audit_prune p WHERE p.family_id = OLD.family_id AND p.cut >= OLD.n) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
DROP TRIGGER append_only ON audit_entry;
CREATE TRIGGER append_only BEFORE UPDATE ON audit_entry FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER only_pruned BEFORE DELETE ON audit_entry FOR EACH ROW EXECUTE FUNCTION audit_goes_only_when_pruned();
ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER only_pruned;

-- Pages of one family go by number, pages over all by time; within a family both are the same order. People, things and
-- traces lie in one family as a rule, so one index on each serves both. Writes fill all of them at their right edge, but
-- for the traces.
DROP INDEX audit_by_actor, audit_by_subject, audit_by_resource;
CREATE INDEX audit_by_actor ON audit_entry (actor, at);
CREATE INDEX audit_by_subject ON audit_entry (subject, at) WHERE subject IS NOT NULL;
CREATE INDEX audit_by_resource ON audit_entry (resource, at) WHERE resource IS NOT NULL;
CREATE INDEX audit_by_trace ON audit_entry (trace);
CREATE INDEX audit_by_time ON audit_entry (at);
CREATE INDEX audit_by_kind_and_time ON audit_entry (kind, at);

-- The first number of a family's chain at or after a moment: numbers have no gaps and times grow with them, so that it is
-- found by halving.
CREATE FUNCTION audit_number_at(family uuid, moment timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    low    bigint;
    high   bigint;
    middle bigint;
BEGIN
    SELECT e.n INTO low FROM audit_entry e WHERE e.family_id = family ORDER BY e.n LIMIT 1;
    SELECT e.n + 1 INTO high FROM audit_entry e WHERE e.family_id = family ORDER BY e.n DESC LIMIT 1;
    WHILE low < high LOOP
        middle := (low + high) / 2;
        IF (SELECT e.at < moment FROM audit_entry e WHERE e.family_id = family AND e.n = middle) THEN
            low := middle + 1;
        ELSE
            high := middle;
        END IF;
    END LOOP;
    RETURN low;
END $$;

GRANT SELECT, INSERT ON audit_leaf, audit_node, audit_checkpoint, audit_key, audit_subject_key TO nagz_server;
GRANT SELECT ON audit_prune, admins TO nagz_server;
