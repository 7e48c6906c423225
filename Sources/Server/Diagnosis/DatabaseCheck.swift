import Domain
import Foundation
import Postgres
import SQL

/// Checks the database as the server's login sees it: the server, its writes, the clocks, the role, the schema and its
/// grants. Everything runs in read-only transactions.
public struct DatabaseCheck: Sendable {
    /// The oldest supported version of PostgreSQL, as `server_version_num` gives it.
    static let oldestVersion = 150_000

    private let databaseURL: String
    private let folder: String
    private let isRestored: Bool
    private let clock: any WallClock

    /// - Parameters:
    ///   - databaseURL: the URL of the server's login.
    ///   - folder: the folder of the migrations.
    ///   - isRestored: whether the database was restored from a backup. If such a database is in recovery, it is not a
    ///     standby.
    public init(databaseURL: String, folder: String, isRestored: Bool = false, clock: any WallClock = SystemClock()) {
        (self.databaseURL, self.folder, self.isRestored, self.clock) = (databaseURL, folder, isRestored, clock)
    }

    /// The result for a restored database that is still in recovery.
    public static let inRecoveryResult = CheckResult.failed(
        "database", "PostgreSQL is in recovery: it is read-only, and still lacks changes that its log holds",
        advice: """
            wait until SELECT pg_is_in_recovery() answers f, then run nagz restore-check again; if recovery has paused at
            its target, SELECT pg_wal_replay_resume() ends it
            """)

    /// Runs the checks in order.
    /// - Returns: the results; only one when the migrations cannot be read, when the database does not answer, or when
    ///   it is in recovery after a restore.
    public func run() async -> [CheckResult] {
        do {
            let requirements = try SchemaRequirements(Schema.migrations(folder))
            let (clock, isRestored) = (clock, isRestored)
            return try await Schema.withReadOnlyDatabase(databaseURL) { database in
                if isRestored {
                    let row = try await database.query("SELECT pg_is_in_recovery() AS is_in_recovery").onlyRow()
                    if try row["is_in_recovery"] { return [Self.inRecoveryResult] }
                }
                return try await Self.run(database, requirements, clock)
            }
        } catch let fault as Migrator.MigrationError {
            return [Self.failed("schema", fault)]
        } catch {
            return [
                .failed(
                    "database", "\(error)",
                    advice: "start PostgreSQL or correct DATABASE_URL, and run this again: role, schema, clock and "
                        + "audit log are not checked yet")
            ]
        }
    }

    private static func run(
        _ database: Database, _ requirements: SchemaRequirements, _ clock: any WallClock
    ) async throws -> [CheckResult] {
        let server = try await checkServer(database)
        var results = [server]
        if server.status != .failed { results.append(writesResult(try await database.probeWrites())) }
        results.append(try await checkClocks(database, clock))
        results.append(await checkRole(requirements, database))
        let schema = await checkSchema(requirements, database)
        results.append(schema)
        // Before its migrations are applied, the database lacks their grants too.
        if schema.status == .ok {
            results.append(await checkGrants(requirements, database))
            if let replication = try await ReplicationCheck.run(database) { results.append(replication) }
        }
        return results
    }

    // MARK: Server

    private static func checkServer(_ queries: any Queries) async throws -> CheckResult {
        let row = try await queries.query(
            """
            SELECT current_setting('server_version') AS version, current_setting('server_version_num')::integer AS number,
                   coalesce(s.ssl, false) AS is_encrypted, s.version AS protocol,
                   coalesce(inet_client_addr() = inet_server_addr(), true) AS is_local, pg_is_in_recovery() AS is_standby
            FROM (SELECT) one LEFT JOIN pg_stat_ssl s ON s.pid = pg_backend_pid()
            """
        ).onlyRow()
        return serverResult(
            version: try row["version"], number: try row["number"], isStandby: try row["is_standby"],
            protocol: try row["is_encrypted"] ? row["protocol"] ?? "TLS" : nil, isLocal: try row["is_local"])
    }

    /// - Parameters:
    ///   - number: the version, as `server_version_num` gives it.
    ///   - protocol: the protocol of the encryption; nil without encryption.
    ///   - isLocal: whether the database is on this machine.
    static func serverResult(
        version: String, number: Int, isStandby: Bool, protocol: String?, isLocal: Bool
    ) -> CheckResult {
        let name = "PostgreSQL \(version)"
        if number < oldestVersion {
            return .failed("database", "\(name) is too old", advice: "install PostgreSQL 15 or newer")
        }
        if isStandby {
            return .failed("database", "\(name) \(WriteFault.standby.text)", advice: WriteFault.standby.advice)
        }
        guard let `protocol` else {
            return isLocal
                ? .ok("database", "\(name) on this machine, not encrypted")
                : .warning(
                    "database", "\(name) on another machine, and the connection is not encrypted",
                    advice: "add sslmode=verify-full to DATABASE_URL, and give PostgreSQL a certificate")
        }
        return .ok("database", "\(name), encrypted with \(`protocol`)")
    }

    static func writesResult(_ fault: WriteFault?) -> CheckResult {
        guard let fault else { return .ok("writes", "the database takes writes") }
        return .failed("writes", "the database \(fault.text)", advice: fault.advice)
    }

    // MARK: Clocks

    private static func checkClocks(_ queries: any Queries, _ clock: any WallClock) async throws -> CheckResult {
        clockResult(skew: try await ClockSkew.measure(queries, clock).databaseLead)
    }

    /// - Parameter skew: the time by which the database's clock is ahead.
    static func clockResult(skew: Timestamp.Span) -> CheckResult {
        let distance = Timestamp.Span(microseconds: abs(skew.microseconds))
        let seconds = String(format: "%.1f", Double(distance.microseconds) / 1_000_000)
        let direction = skew.microseconds < 0 ? "behind" : "ahead of"
        let text = "the database's clock is \(seconds) s \(direction) this machine's"
        let advice = "synchronize both machines with NTP (chrony or systemd-timesyncd)"
        if distance > Ledger.maxClockSkew {
            return .failed(
                "clock", "\(text); no server is ready above \(Ledger.maxClockSkew.text)", advice: advice)
        }
        return distance > .seconds(5) ? .warning("clock", text, advice: advice) : .ok("clock", text)
    }

    // MARK: Role and schema

    private static func checkRole(_ requirements: SchemaRequirements, _ queries: any Queries) async -> CheckResult {
        do {
            try await requirements.checkLogin(queries)
            let login: String = try await queries.query("SELECT session_user::text AS login").onlyRow()["login"]
            return .ok("role", "\(login) is a member of nagz_server, owns nothing and cannot become another role")
        } catch {
            return failed("role", error)
        }
    }

    private static func checkSchema(_ requirements: SchemaRequirements, _ queries: any Queries) async -> CheckResult {
        do {
            try await requirements.checkMigrations(queries)
            return .ok("schema", "all \(requirements.version) migrations are applied, and unchanged")
        } catch {
            return failed("schema", error)
        }
    }

    private static func checkGrants(_ requirements: SchemaRequirements, _ queries: any Queries) async -> CheckResult {
        do {
            try await requirements.checkGrants(queries)
            return .ok("grants", "the role has the grants of the migrations, and no others")
        } catch {
            return failed("grants", error)
        }
    }

    private static func failed(_ name: String, _ error: any Error) -> CheckResult {
        let advice = "see “Database logins” in deploy/configuration.md, then run nagz migrate as the schema's owner"
        if let error = error as? PostgresError { return .failed(name, error.description, advice: advice) }
        return .failed(name, message: "\(error)", advice: advice)
    }
}

extension Schema {
    /// Runs `body` with one database session whose transactions are read-only. A statement may take ten minutes:
    /// some read all families of a large database.
    static func withReadOnlyDatabase<Value: Sendable>(
        _ url: String, _ body: @escaping @Sendable (Database) async throws -> Value
    ) async throws -> Value {
        try await withDatabase(url, settings: [("statement_timeout", "600000")]) { database in
            // Not a setting of the connection: libpq would take the server for one that refuses writes.
            _ = try await database.query("SET default_transaction_read_only = on")
            return try await body(database)
        }
    }
}
