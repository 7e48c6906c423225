import Audit
import Domain
import Postgres
import SQL

/// Compares what protects the audit log in the database's catalog with what the migrations create: triggers, functions,
/// policies, rules, constraints of the log's tables, their privileges, and the privileges of the server's role.
struct SchemaCheck {
    let queries: any Queries

    init(_ queries: any Queries) { self.queries = queries }

    func run() async throws -> StateReport {
        var report = StateReport()
        let found = Set(try await readFacts().map(SchemaFacts.normalized))
        let expected = SchemaFacts.expected
        report.comparedCount = Int64(found.count)
        for fact in expected.subtracting(found).sorted() {
            report.add(StateFinding(.schema, fact, .noRow, family: nil))
        }
        for fact in found.subtracting(expected).sorted() {
            report.add(StateFinding(.schema, fact, .noEntry, family: nil))
        }
        return report
    }

    /// Reads the facts of the catalog, each as one line of text.
    func readFacts() async throws -> [String] {
        try await queries.query(Self.catalog).map { row throws(PostgresError) in try row["fact"] }
    }

    /// Reads the facts. The body of a function is given by a digest: of `prosrc` for PL/pgSQL, and of the parsed body
    /// without blanks for SQL.
    private static let catalog: SQL = """
        WITH relation AS (
            SELECT c.oid, c.relname::text AS name, c.relowner, c.relacl, c.relrowsecurity, c.relforcerowsecurity
            FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        ), guarded AS (
            SELECT * FROM relation WHERE name LIKE 'audit\\_%' OR name IN ('family_clock', 'admins')
        ), owner AS (SELECT relowner AS id FROM relation WHERE name = 'audit_entry')
        SELECT 'trigger ' || r.name || ' ' || t.tgname || ' ' || t.tgenabled::text || ' '
            || regexp_replace(pg_get_triggerdef(t.oid), '^CREATE (CONSTRAINT )?TRIGGER \\S+ ', '') AS fact
        FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid WHERE NOT t.tgisinternal
        UNION ALL
        SELECT 'foreign key off ' || r.name || ' ' || t.tgname FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid
        WHERE t.tgisinternal AND t.tgenabled <> 'O'
        UNION ALL
        SELECT 'function ' || p.proname || ' ' || l.lanname || CASE WHEN p.prosecdef THEN ' definer ' ELSE ' ' END
            || left(encode(sha256(convert_to(CASE WHEN p.prosqlbody IS NULL THEN p.prosrc
                ELSE regexp_replace(pg_get_function_sqlbody(p.oid), '\\s', '', 'g') END, 'UTF8')), 'hex'), 16)
        FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.pronamespace = 'public'::regnamespace
        UNION ALL
        SELECT 'policy ' || r.name || ' ' || o.polname || ' ' || o.polcmd::text || ' '
            || coalesce(pg_get_expr(o.polqual, o.polrelid), '-') || ' '
            || regexp_replace(coalesce(pg_get_expr(o.polwithcheck, o.polrelid), '-'), '\\s+', ' ', 'g')
            || CASE WHEN o.polroles = '{0}' THEN '' ELSE ' for some' END
        FROM pg_policy o JOIN relation r ON r.oid = o.polrelid
        UNION ALL
        SELECT 'row security ' || name FROM relation WHERE relrowsecurity
        UNION ALL
        SELECT 'rule ' || r.name || ' ' || w.rulename FROM pg_rewrite w JOIN relation r ON r.oid = w.ev_class
        UNION ALL
        SELECT 'event trigger ' || evtname FROM pg_event_trigger
        UNION ALL
        SELECT 'instead of ' || r.name || ': ' || c.relnamespace::regnamespace::text || '.' || c.relname
        FROM pg_class c JOIN relation r ON r.name = c.relname::text
        WHERE c.relnamespace <> 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
            AND c.relpersistence <> 't'
        UNION ALL
        SELECT 'constraint ' || r.name || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid)
        FROM pg_constraint k JOIN guarded r ON r.oid = k.conrelid WHERE k.contype IN ('c', 'p', 'u', 'f')
            AND k.conname NOT LIKE 'audit\\_master\\_%\\_is\\_retired'
        UNION ALL
        SELECT 'grant ' || r.name || ' ' || string_agg(a.privilege_type, ' ' ORDER BY a.privilege_type)
            || ' to ' || CASE WHEN a.grantee = 0 THEN 'everybody' ELSE a.grantee::regrole::text END
        FROM guarded r CROSS JOIN LATERAL aclexplode(coalesce(r.relacl, acldefault('r', r.relowner))) a
        WHERE a.grantee <> r.relowner GROUP BY r.name, a.grantee
        UNION ALL
        SELECT 'grant ' || r.name || '.' || c.attname || ' ' || a.privilege_type FROM pg_attribute c
        JOIN guarded r ON r.oid = c.attrelid CROSS JOIN LATERAL aclexplode(c.attacl) a WHERE c.attacl IS NOT NULL
        UNION ALL
        SELECT 'another owner of ' || r.name FROM relation r, owner WHERE r.relowner <> owner.id
        UNION ALL
        SELECT 'another owner of ' || p.proname FROM pg_proc p, owner
        WHERE p.pronamespace = 'public'::regnamespace AND p.proowner <> owner.id
        UNION ALL
        SELECT 'role nagz_server may ' || may FROM pg_roles, LATERAL (VALUES
            (rolsuper, 'everything'), (rolcreaterole, 'make roles'), (rolcreatedb, 'make databases'),
            (rolreplication, 'replicate'), (rolbypassrls, 'bypass policies')) v (has, may)
        WHERE rolname = 'nagz_server' AND has
        UNION ALL
        SELECT 'role nagz_server may act as ' || m.roleid::regrole::text FROM pg_auth_members m
        WHERE m.member = to_regrole('nagz_server')
        UNION ALL
        SELECT 'role nagz_server owns ' || r.name FROM relation r WHERE r.relowner = to_regrole('nagz_server')
        UNION ALL
        SELECT 'setting ' || setting FROM pg_db_role_setting, unnest(setconfig) setting
        WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
            AND setting LIKE 'session\\_replication\\_role%'
        """
}
