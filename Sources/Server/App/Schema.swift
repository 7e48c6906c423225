import Foundation
import Postgres
import Reactor

/// The database schema as the migrations of a folder describe it.
public enum Schema {
    /// The error of a server whose database lacks migrations.
    public struct MigrationsPending: Error, CustomStringConvertible {
        public let count: Int
        public var description: String {
            "the database lacks \(count) migration\(count == 1 ? "" : "s"): run nagz migrate first"
        }
    }

    /// Applies pending migrations, and creates or repairs the role `nagz_server` with its grants. A dry run only
    /// reports what would be done; while migrations are pending or the role is missing, it does not check
    /// the grants.
    /// - Parameters:
    ///   - databaseURL: the URL with the login of the schema's owner.
    ///   - progress: called with a migration before each attempt to apply it, in a dry run with each pending one.
    ///   - restored: called with a text about each repair: the role or the grants that were missing, and the rights
    ///     that PUBLIC had.
    /// - Returns: the number of pending migrations.
    @discardableResult
    public static func migrate(
        folder: String, databaseURL: String, isDryRun: Bool = false,
        progress: @escaping @Sendable (Migrator.Migration) -> Void,
        restored: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Int {
        let migrations = try migrations(folder)
        let migrator = try Migrator(migrations)
        return try await withDatabase(databaseURL) { database in
            let pending = try await migrator.pendingMigrations(database)
            let wasRoleMissing = try await ServerRole.createIfMissing(database, isDryRun: isDryRun)
            if wasRoleMissing { restored("the role nagz_server") }
            if isDryRun { pending.forEach(progress) } else { try await migrator.run(database, beforeAttempt: progress) }
            if !isDryRun || pending.isEmpty && !wasRoleMissing {
                let grants = ServerGrants(migrations)
                try await ServerRole.repair(database, grants, isDryRun: isDryRun).forEach(restored)
            }
            return pending.count
        }
    }

    /// Checks that a server can work with the database: its login has the privileges it needs and no others, and the
    /// schema is this program's.
    /// - Parameter databaseURL: the URL with the server's login.
    /// - Throws: `RoleFault`, `MigrationsPending`, or `Migrator.MigrationError` when the database is newer than the
    ///   files or differs from them.
    public static func check(folder: String, databaseURL: String) async throws {
        let requirements = try SchemaRequirements(migrations(folder))
        try await withDatabase(databaseURL) { database in
            try await requirements.checkLogin(database)
            try await requirements.checkMigrations(database)
            try await requirements.checkGrants(database)
        }
    }

    /// Runs `body` with one database session on a loop of its own.
    /// - Parameters:
    ///   - settings: session settings, such as `statement_timeout`.
    ///   - defaults: values for keywords of libpq that the URL does not set.
    public static func withDatabase<Value: Sendable>(
        _ url: String, settings: [(name: String, value: String)] = [],
        defaults: [(keyword: String, value: String)] = [],
        _ body: @escaping @Sendable (Database) async throws -> Value
    ) async throws -> Value {
        let options = try ConnectionOptions(url: url, settings: settings, defaults: defaults)
        let loop = try EventLoop(name: "nagz-tool")
        try loop.start()
        defer { loop.stop() }
        return try await loop.runTask { poller in
            var limits = Database.Limits()
            limits.connections = 1
            limits.requestTimeout = .seconds(60)
            limits.givesUpOnFailure = true
            limits.batchTimeout = .seconds(3_600)
            let database = Database(options, limits: limits, poller: poller)
            database.open()
            defer { database.close() }
            return try await body(database)
        }
    }

    static func migrations(_ folder: String) throws -> [Migrator.Migration] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().compactMap { name in
            Migrator.Migration(fileName: name, sql: try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8))
        }
    }
}
