-- Rules of families and of people for what the AI may do with a question.

CREATE TABLE ai_constraints (
    family_id      uuid NOT NULL REFERENCES families,
    id             uuid NOT NULL,
    -- Whose questions it is about; null for the family's, which all members obey.
    owner_id       uuid REFERENCES users,
    name           text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
    type           text NOT NULL CHECK (type IN ('privacy', 'cost', 'performance', 'intent')),
    enabled        boolean NOT NULL,
    priority       integer NOT NULL CHECK (priority BETWEEN 1 AND 999),
    conditions     jsonb NOT NULL CHECK (jsonb_array_length(conditions) BETWEEN 1 AND 10),
    action         jsonb NOT NULL CHECK (jsonb_typeof(action) = 'object'),
    schema_version integer NOT NULL DEFAULT 1 CHECK (schema_version = 1),
    created_by     uuid NOT NULL REFERENCES users,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    -- The ledger's number of the act that changed it last.
    changed_by     bigint NOT NULL,
    PRIMARY KEY (family_id, id),
    -- Within an act several may trade places.
    CONSTRAINT one_ai_constraint_per_priority UNIQUE NULLS NOT DISTINCT (family_id, owner_id, priority)
        DEFERRABLE INITIALLY DEFERRED
);
GRANT SELECT, INSERT, DELETE ON ai_constraints TO nagz_server;
GRANT UPDATE (name, type, enabled, priority, conditions, action, updated_at, changed_by) ON ai_constraints TO nagz_server;
