-- The audit trail: one entry for every number a ledger hands out, chained by hash. Docs: Sources/Audit/README.md.

CREATE TABLE audit_entry (
    family_id uuid NOT NULL,
    -- Gap-free per family: the ledger's seq.
    n         bigint NOT NULL,
    at        timestamptz NOT NULL,
    kind      text NOT NULL,
    actor     uuid NOT NULL,
    subject   uuid,
    resource  uuid,
    trace     uuid NOT NULL,
    request   uuid NOT NULL,
    commit    bytea NOT NULL CHECK (length(commit) = 32),
    prev      bytea NOT NULL CHECK (length(prev) = 32),
    hash      bytea NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (family_id, n)
);
-- Every write of every family pays for each index here, so there is one only where a page of a long trail would
-- otherwise walk all of it: what one person did, all of a kind, all about a person or a thing (partial: many entries are
-- about neither). A trace is a handful of entries and times grow with n: both are found on the walk by primary key.
CREATE INDEX audit_by_kind ON audit_entry (family_id, kind, n);
CREATE INDEX audit_by_actor ON audit_entry (family_id, actor, n);
CREATE INDEX audit_by_subject ON audit_entry (family_id, subject, n) WHERE subject IS NOT NULL;
CREATE INDEX audit_by_resource ON audit_entry (family_id, resource, n) WHERE resource IS NOT NULL;

-- What an entry is about, in the canonical form its commitment covers. Erasure deletes rows here, never there.
CREATE TABLE audit_payload (
    family_id uuid NOT NULL,
    n         bigint NOT NULL,
    -- The key that seals the body; null when it is not sealed.
    key_id    uuid,
    salt      bytea NOT NULL CHECK (length(salt) = 32),
    body      bytea NOT NULL,
    PRIMARY KEY (family_id, n)
);

-- Guard-rails: entries are written once. A superuser can take them down; the chain shows what was done then.
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON audit_entry
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only BEFORE UPDATE ON audit_payload
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON audit_payload
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE audit_payload ENABLE ALWAYS TRIGGER append_only;
ALTER TABLE audit_payload ENABLE ALWAYS TRIGGER append_only_truncate;

GRANT SELECT, INSERT ON audit_entry, audit_payload TO nagz_server;
