-- What a verification of the audit log on request has found: kept until an administrator acknowledges it.

CREATE TABLE audit_findings (
    id              uuid PRIMARY KEY,
    -- The operation whose answer it was.
    source          text NOT NULL CHECK (source IN ('verification', 'check')),
    -- The verifiers' name of the fault.
    code            text NOT NULL,
    -- Where: null where it is about no family, and no entry.
    family_id       uuid,
    n               bigint,
    message         text NOT NULL,
    found_at        timestamptz NOT NULL,
    acknowledged_at timestamptz,
    acknowledged_by uuid,
    reason          text,
    CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL)),
    CHECK ((acknowledged_at IS NULL) = (reason IS NULL))
);
-- The same finding is kept once.
CREATE UNIQUE INDEX open_audit_findings ON audit_findings
    (source, code, coalesce(family_id, '00000000-0000-0000-0000-000000000000'), coalesce(n, 0))
    WHERE acknowledged_at IS NULL;
GRANT SELECT, INSERT ON audit_findings TO nagz_server;
GRANT UPDATE (acknowledged_at, acknowledged_by, reason) ON audit_findings TO nagz_server;
