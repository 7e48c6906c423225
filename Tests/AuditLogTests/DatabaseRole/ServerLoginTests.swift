import Foundation
import Postgres
import Reactor
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// Somebody who has the server's database login, and a session of their own.
@Suite("The server's database login")
struct ServerLoginTests {
    /// Statements of one session; the last one MUST be refused.
    struct Attempt: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let statements: [String]
        /// Not allowed, or not in this state of the session.
        var states: Set<String> = ["42501"]

        init(_ statements: String..., states: Set<String> = ["42501"]) {
            testDescription = statements.joined(separator: "; ")
            self.statements = statements
            self.states = states
        }
    }

    private static let auditTables = [
        "audit_entry", "audit_payload", "audit_leaf", "audit_node", "audit_checkpoint", "audit_key", "audit_prune",
        "audit_subject_key",
    ]

    private static let attempts =
        becoming + changingTheAuditLog + takingTheGuardRailsDown + making + granting + reachingTheMachine

    private static let becoming = [
        Attempt("SET ROLE nagz_test_owner"), Attempt("SET ROLE postgres"),
        Attempt("SET ROLE pg_execute_server_program"),
        Attempt("SET SESSION AUTHORIZATION nagz_test_owner"), Attempt("SET SESSION AUTHORIZATION postgres"),
        Attempt("SET ROLE NONE", "DELETE FROM audit_entry"), Attempt("RESET ROLE", "DELETE FROM audit_entry"),
        Attempt("RESET SESSION AUTHORIZATION", "DELETE FROM audit_entry"),
        Attempt("SET ROLE nagz_server", "SET ROLE NONE", "SET ROLE nagz_test_owner"),
        Attempt("SET ROLE nagz_server", "DELETE FROM audit_entry"),
        Attempt("DO $$ BEGIN SET LOCAL ROLE nagz_test_owner; DELETE FROM audit_entry; END $$"),
        Attempt("SELECT set_config('role', 'postgres', false)"),
        Attempt("SELECT set_config('session_authorization', 'postgres', false)"),
    ]

    private static let changingTheAuditLog =
        auditTables.flatMap { table in
            [
                Attempt("UPDATE \(table) SET \(column(of: table)) = NULL"), Attempt("DELETE FROM \(table)"),
                Attempt("TRUNCATE \(table)"), Attempt("SELECT FROM \(table) FOR UPDATE"),
                Attempt("DO $$ BEGIN LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE; END $$"),
            ]
        } + [
            Attempt("INSERT INTO audit_prune VALUES (gen_random_uuid(), 1, now(), 'x')"),
            Attempt("INSERT INTO admins (user_id, created_at) SELECT id, now() FROM users"),
            Attempt("UPDATE admins SET revoked_at = NULL"), Attempt("DELETE FROM admins"),
            Attempt("UPDATE schema_migrations SET number = 0"), Attempt("DELETE FROM schema_migrations"),
            Attempt(
                "INSERT INTO audit_entry SELECT * FROM audit_entry ON CONFLICT (family_id, n) DO UPDATE SET kind = 'x'"),
            Attempt(
                """
                MERGE INTO audit_entry e USING (SELECT 1) s ON true WHEN MATCHED THEN UPDATE SET kind = 'x'
                """),
            Attempt("DO $$ BEGIN EXECUTE 'DELETE FROM audit_entry'; END $$"),
        ]

    private static func column(of table: String) -> String {
        switch table {
        case "audit_payload": "body"
        case "audit_checkpoint", "audit_prune": "note"
        case "audit_key": "verifier"
        case "audit_subject_key": "wrapped"
        default: "hash"
        }
    }

    private static let takingTheGuardRailsDown =
        auditTables.flatMap { table in
            [
                Attempt("ALTER TABLE \(table) DISABLE TRIGGER ALL"), Attempt("DROP TABLE \(table) CASCADE"),
                Attempt("ALTER TABLE \(table) OWNER TO CURRENT_USER"),
            ]
        } + [
            Attempt("SET session_replication_role = replica"),
            Attempt("SELECT set_config('session_replication_role', 'replica', false)"),
            Attempt("ALTER ROLE CURRENT_USER SET session_replication_role = replica"),
            Attempt("DROP TRIGGER append_only ON audit_entry"),
            Attempt("DROP FUNCTION audit_is_append_only() CASCADE"),
            Attempt(
                """
                CREATE OR REPLACE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RETURN OLD; END $$
                """),
            Attempt("ALTER FUNCTION audit_is_append_only() OWNER TO CURRENT_USER"),
            Attempt("CREATE RULE gone AS ON INSERT TO audit_entry DO INSTEAD NOTHING"),
            Attempt("CREATE TRIGGER mine BEFORE INSERT ON audit_entry EXECUTE FUNCTION audit_is_append_only()"),
            Attempt("CREATE POLICY mine ON audit_entry"),
            Attempt("ALTER SYSTEM SET session_replication_role = replica"),
            Attempt("SET allow_system_table_mods = on", "DELETE FROM pg_trigger"), Attempt("DELETE FROM pg_trigger"),
            Attempt("UPDATE pg_authid SET rolsuper = true"), Attempt("SELECT rolpassword FROM pg_authid"),
        ]

    private static let making = [
        Attempt("CREATE TABLE public.mine (a int)"), Attempt("CREATE VIEW public.mine AS SELECT 1"),
        Attempt("CREATE TEMPORARY TABLE audit_entry (a int)"), Attempt("CREATE TEMPORARY VIEW users AS SELECT 1"),
        Attempt("SELECT * INTO TEMPORARY users FROM admins"), Attempt("CREATE TEMPORARY SEQUENCE mine"),
        Attempt("CREATE SCHEMA mine"), Attempt("CREATE SCHEMA AUTHORIZATION CURRENT_USER"),
        Attempt("CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql RETURN 1"),
        Attempt("CREATE FUNCTION pg_temp.mine() RETURNS int LANGUAGE sql RETURN 1"),
        Attempt("CREATE FUNCTION public.mine() RETURNS int LANGUAGE c AS 'libc', 'system'"),
        Attempt("CREATE FUNCTION public.mine() RETURNS int LANGUAGE internal AS 'x'"),
        Attempt("CREATE TYPE public.mine AS (a int)"), Attempt("CREATE OPERATOR public.=== (FUNCTION = int4eq)"),
        Attempt("CREATE EXTENSION pgcrypto", states: ["42501", "0A000", "58P01"]), Attempt("CREATE DATABASE mine"),
        Attempt("CREATE EXTENSION plpython3u", states: ["42501", "0A000", "58P01"]),
        Attempt("CREATE LANGUAGE mine HANDLER plpgsql_call_handler"),
        Attempt("CREATE PUBLICATION mine FOR TABLE audit_entry"),
        Attempt("CREATE EVENT TRIGGER mine ON ddl_command_end EXECUTE FUNCTION audit_is_append_only()"),
        Attempt("CREATE SUBSCRIPTION mine CONNECTION '' PUBLICATION x WITH (connect = false)"),
        Attempt("CREATE SERVER mine FOREIGN DATA WRAPPER none", states: ["42501", "42704"]),
        Attempt("CREATE TABLESPACE mine LOCATION '/tmp'"), Attempt("DROP DATABASE postgres"),
        Attempt("DROP OWNED BY nagz_test_owner"), Attempt("REASSIGN OWNED BY nagz_test_owner TO CURRENT_USER"),
    ]

    private static let granting = [
        Attempt("ALTER ROLE CURRENT_USER SUPERUSER"), Attempt("ALTER ROLE CURRENT_USER CREATEROLE"),
        Attempt("ALTER ROLE CURRENT_USER BYPASSRLS"), Attempt("ALTER ROLE nagz_server LOGIN"),
        Attempt("ALTER ROLE nagz_test_owner PASSWORD 'mine'"), Attempt("ALTER ROLE postgres PASSWORD 'mine'"),
        Attempt("ALTER ROLE nagz_test_owner SET role = 'nagz_test_server'"), Attempt("CREATE ROLE mine"),
        Attempt("CREATE USER mine"), Attempt("DROP ROLE nagz_test_owner"),
        Attempt("GRANT nagz_test_owner TO CURRENT_USER"), Attempt("GRANT nagz_server TO nagz_test_owner"),
        Attempt("GRANT nagz_test_server TO nagz_test_owner"),
        Attempt("GRANT pg_execute_server_program TO CURRENT_USER"), Attempt("GRANT pg_write_all_data TO CURRENT_USER"),
        // These succeed with a warning, and grant nothing.
        Attempt("GRANT DELETE ON audit_entry TO CURRENT_USER", "DELETE FROM audit_entry"),
        Attempt("GRANT UPDATE ON audit_entry TO nagz_server", "UPDATE audit_entry SET kind = 'x'"),
        Attempt("GRANT ALL ON admins TO PUBLIC", "INSERT INTO admins SELECT id, now() FROM users"),
        Attempt("GRANT CREATE ON SCHEMA public TO CURRENT_USER", "CREATE TABLE public.mine (a int)"),
        Attempt("GRANT SET ON PARAMETER session_replication_role TO CURRENT_USER"),
        Attempt("ALTER DEFAULT PRIVILEGES FOR ROLE nagz_test_owner GRANT ALL ON TABLES TO PUBLIC"),
        Attempt("DO $$ BEGIN EXECUTE 'GRANT nagz_test_owner TO nagz_test_server'; END $$"),
    ]

    private static let reachingTheMachine = [
        Attempt("COPY (SELECT 1) TO PROGRAM 'id'"), Attempt("COPY users FROM PROGRAM 'id'"),
        Attempt("COPY (SELECT 1) TO '/tmp/nagz-server-login'"), Attempt("COPY users FROM '/etc/passwd'"),
        Attempt("SELECT pg_read_file('/etc/passwd')"), Attempt("SELECT pg_ls_dir('.')"),
        Attempt("SELECT pg_stat_file('.')"), Attempt("SELECT lo_import('/etc/passwd')"),
        Attempt("SELECT lo_export(1, '/tmp/nagz-server-login')"), Attempt("LOAD 'dblink'", states: ["42501", "58P01"]),
        Attempt("SELECT pg_reload_conf()"), Attempt("SELECT pg_rotate_logfile()", states: ["42501", "42883"]),
        Attempt("SELECT pg_switch_wal()"), Attempt("SELECT pg_create_restore_point('mine')"), Attempt("CHECKPOINT"),
        Attempt(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename NOT LIKE 'nagz%' AND pid <> pg_backend_pid()"
        ),
        Attempt("SELECT pg_logical_slot_get_changes('mine', NULL, NULL)", states: ["42501", "42704", "55000"]),
        Attempt("SELECT pg_create_physical_replication_slot('mine')"),
    ]

    @Test("the server's database login is refused every attempt to exceed its rights")
    func refusesAll() async throws {
        try await TestCluster.shared.withDatabase { url in
            for attempt in Self.attempts {
                let session = try await TestDatabase(url: TestLogin.server.url(url))
                let state = await session.stateOfLast(attempt.statements)
                await session.close()
                #expect(attempt.states.contains(state), "\(attempt.testDescription): \(state)")
            }
        }
    }

    @Test("no database function runs with its owner's rights unless its search path is fixed")
    func definerFunctions() async throws {
        try await TestCluster.shared.withDatabase { url in
            let database = try await TestDatabase(url: url)
            let names: [String] = try await database.rows(
                """
                SELECT proname::text AS name FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace
                    AND NOT coalesce(array_to_string(proconfig, ' '), '') LIKE '%search_path=%'
                """
            ) { try $0["name"] }
            await database.close()
            #expect(names.isEmpty)
        }
    }

    @Test("the server's login passes the check that nagz serve makes; the owner and the superuser do not")
    func checked() async throws {
        try await TestCluster.shared.withDatabase { url in
            try await Schema.check(folder: Self.migrations, databaseURL: TestLogin.server.url(url))
            await #expect(throws: RoleFault.ownsObject(login: "nagz_test_owner", object: "abuse_reports")) {
                try await Schema.check(folder: Self.migrations, databaseURL: TestLogin.owner.url(url))
            }
            let asServer = "&options=-c%20role%3Dnagz_server"
            try #require(url.contains("://"))
            await #expect(throws: RoleFault.self, "stepping down does not count") {
                try await Schema.check(folder: Self.migrations, databaseURL: TestLogin.owner.url(url) + asServer)
            }
            await #expect(throws: RoleFault.superuser(login: "postgres")) {
                try await Schema.check(folder: Self.migrations, databaseURL: url + asServer)
            }
        }
    }

    /// A login as an operator might make it, what they did to it, and what `nagz serve` says.
    static let badLogins: [(change: String, fault: String)] = [
        ("", "not a member of nagz_server"),
        ("GRANT nagz_server TO $1; ALTER ROLE $1 NOINHERIT", "not a member of nagz_server"),
        ("GRANT nagz_server TO $1; ALTER ROLE $1 CREATEROLE", "has CREATEROLE"),
        ("GRANT nagz_server TO $1; ALTER ROLE $1 CREATEDB", "has CREATEDB"),
        ("GRANT nagz_server TO $1; ALTER ROLE $1 BYPASSRLS", "has BYPASSRLS"),
        ("GRANT nagz_server TO $1; ALTER ROLE $1 REPLICATION", "has REPLICATION"),
        ("GRANT nagz_server, nagz_test_owner TO $1", "can become nagz_test_owner"),
        ("GRANT nagz_server, nagz_test_owner TO $1; ALTER ROLE $1 NOINHERIT", "can become nagz_test_owner"),
        ("GRANT nagz_server, pg_execute_server_program TO $1", "can become pg_execute_server_program"),
        ("GRANT nagz_server TO $1 WITH ADMIN OPTION", "may grant nagz_server"),
        (
            "GRANT nagz_server TO $1; GRANT SET ON PARAMETER session_replication_role TO $1",
            "may set session_replication_role"
        ),
        ("GRANT nagz_server TO $1; GRANT UPDATE ON audit_entry TO $1", "revoke UPDATE on audit_entry"),
        ("GRANT nagz_server TO $1; GRANT UPDATE (kind) ON audit_entry TO $1", "revoke UPDATE (kind) on audit_entry"),
        (
            "GRANT nagz_server TO $1; GRANT UPDATE (approved_at) ON policy_approvals TO $1",
            "revoke UPDATE (approved_at) on policy_approvals"
        ),
        ("GRANT nagz_server TO $1; GRANT UPDATE ON policy_approvals TO PUBLIC", "revoke UPDATE on policy_approvals"),
        ("GRANT nagz_server TO $1; GRANT INSERT ON admins TO PUBLIC", "revoke INSERT on admins"),
        ("GRANT nagz_server TO $1; REVOKE INSERT ON audit_entry FROM nagz_server", "lacks INSERT on audit_entry"),
        ("GRANT nagz_server TO $1; GRANT CREATE ON SCHEMA public TO $1", "FROM PUBLIC, nagz_server and the login"),
        ("GRANT nagz_server TO $1; CREATE SCHEMA mine AUTHORIZATION $1", "owns “mine”"),
        ("GRANT nagz_server TO $1; ALTER TABLE audit_entry OWNER TO $1", "owns “audit_entry”"),
    ]

    @Test("a login with other rights than the server's is refused", arguments: badLogins)
    func refuses(change: String, fault: String) async throws {
        try await TestCluster.shared.withDatabase { url in
            let superuser = try await TestDatabase(url: url)
            let login = "nagz_bad_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
            try await superuser.run { database in
                let changes = change.replacing("$1", with: login).split(separator: ";").map(String.init)
                for statement in ["CREATE ROLE \(login) LOGIN PASSWORD 'bad'"] + changes {
                    _ = try await database.query(SQL(unsafeSQL: statement))
                }
            }
            let said = await Self.fault(url + "&user=\(login)&password=bad")
            try await superuser.run { database in
                for statement in [
                    "ALTER TABLE audit_entry OWNER TO nagz_test_owner", "DROP OWNED BY \(login) CASCADE",
                    "DROP ROLE \(login)",
                ] {
                    _ = try await database.query(SQL(unsafeSQL: statement))
                }
            }
            await superuser.close()
            #expect(said.contains(fault), "\(said)")
        }
    }

    private static func fault(_ url: String) async -> String {
        do {
            try await Schema.check(folder: migrations, databaseURL: url)
            return "nothing"
        } catch {
            return "\(error)"
        }
    }

    private static let migrations = repository.appending(path: "Migrations").path()

    @Test("nagz migrate restores the grants and defaults that a restored database lacks")
    func restored() async throws {
        try await TestCluster.shared.withDatabase { url in
            let superuser = try await TestDatabase(url: url)
            let told = RestoredThings()
            // As a dump restored into another cluster: no grants, and the defaults of a new database.
            try await superuser.run { database in
                _ = try await database.query("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM nagz_server")
                _ = try await database.query("GRANT CREATE ON SCHEMA public TO PUBLIC, nagz_server")
                let name: String = try await database.query("SELECT current_database()::text AS name").onlyRow()["name"]
                _ = try await database.query(SQL(unsafeSQL: "GRANT TEMPORARY ON DATABASE \(name) TO PUBLIC"))
            }
            #expect(await Self.fault(TestLogin.server.url(url)).contains("lacks SELECT on schema_migrations"))
            for isDryRun in [true, false, false] {
                try await Schema.migrate(
                    folder: Self.migrations, databaseURL: TestLogin.owner.url(url), isDryRun: isDryRun
                ) { _ in
                } restored: {
                    told.add($0)
                }
                #expect(await Self.fault(TestLogin.server.url(url)).contains("nothing") == !isDryRun)
            }
            #expect(told.count == 4, "twice what is missing, and then nothing")
            await superuser.close()
        }
    }

    @Test("comments and other roles aside, grants are read from the migrations as they stand there")
    func grants() throws {
        let script = """
            -- GRANT DELETE ON users TO nagz_server;
            GRANT SELECT, UPDATE (name, status) ON users, -- and
                sessions TO nagz_server;
            GRANT USAGE ON SCHEMA public TO nagz_server;
            REVOKE SELECT ON sessions FROM nagz_server;
            GRANT SELECT ON users TO somebody;
            """
        let migration = try #require(Migrator.Migration(fileName: "0001_a.sql", sql: script))
        let grants = ServerGrants([migration])
        func privilege(_ name: String, _ table: String, _ column: String? = nil) -> ServerGrants.Privilege {
            ServerGrants.Privilege(name: name, table: table, column: column)
        }
        #expect(
            grants.privileges == [
                privilege("SELECT", "users"), privilege("UPDATE", "users", "name"),
                privilege("UPDATE", "users", "status"), privilege("UPDATE", "sessions", "name"),
                privilege("UPDATE", "sessions", "status"),
            ])
        #expect(grants.statements.count == 3)
    }

    @Test("grants on a table that a later migration drops are neither required nor run again; those beside it are")
    func dropped() throws {
        let scripts = [
            "GRANT SELECT ON one,\n    two TO nagz_server;\nGRANT DELETE ON two TO nagz_server;\nGRANT USAGE ON SCHEMA public TO nagz_server;",
            "DROP INDEX two_by_age;\n-- DROP TABLE one;\nDROP TABLE two;\n",
        ]
        let migrations = try scripts.enumerated().map { index, script in
            try #require(Migrator.Migration(fileName: "000\(index + 1)_a.sql", sql: script))
        }
        let grants = ServerGrants(migrations)
        #expect(grants.privileges == [ServerGrants.Privilege(name: "SELECT", table: "one", column: nil)])
        #expect(
            grants.statements == ["GRANT SELECT ON one TO nagz_server", "GRANT USAGE ON SCHEMA public TO nagz_server"])
    }
}

/// Counts what was told, from another loop.
private final class RestoredThings: Sendable {
    private let things = Locked<[String]>([])
    func add(_ thing: String) { things.withLock { $0.append(thing) } }
    var count: Int { things.withLock { $0.count } }
}

extension TestDatabase {
    /// Runs the statements one after the other on one session; the SQLSTATE of the last, or `done`.
    fileprivate func stateOfLast(_ statements: [String]) async -> String {
        do {
            return try await run { database in
                var state = "done"
                for statement in statements {
                    do {
                        _ = try await database.query(SQL(unsafeSQL: statement))
                        state = "done"
                    } catch let error as PostgresError {
                        state = error.sqlState ?? "\(error)"
                    }
                }
                return state
            }
        } catch {
            return "\(error)"
        }
    }
}
