-- How far the instance that checks the audit log in the background is, and what its last full pass came to: one row, so that
-- every instance can tell, and the next one goes on where this one stopped. It proves nothing; whoever doubts it runs
-- “nagz audit verify” and “nagz audit reconcile”.
CREATE TABLE audit_pass (
    is_only         boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    -- The instance that checks, for as long as it says so again.
    holder          uuid,
    held_until      timestamptz NOT NULL DEFAULT 'epoch',
    -- The pass under way; null between passes.
    started_at      timestamptz,
    behind          uuid,
    families        bigint NOT NULL DEFAULT 0,
    entries         bigint NOT NULL DEFAULT 0,
    findings        bigint NOT NULL DEFAULT 0,
    first_finding   text,
    -- The last full pass.
    finished_at     timestamptz,
    last_families   bigint NOT NULL DEFAULT 0,
    last_entries    bigint NOT NULL DEFAULT 0,
    last_findings   bigint NOT NULL DEFAULT 0,
    last_finding    text,
    last_incomplete text
);
INSERT INTO audit_pass DEFAULT VALUES;

GRANT SELECT, UPDATE ON audit_pass TO nagz_server;
