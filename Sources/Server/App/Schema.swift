import Foundation
import Postgres
import Reactor

/// The database schema as the files of a folder describe it.
public enum Schema {
    /// Applies what is pending, or only tells of it.
    /// - Returns: how many migrations that were.
    @discardableResult
    public static func migrate(
        folder: String, databaseURL: String, isDryRun: Bool = false,
        progress: @escaping @Sendable (Migrator.Migration) -> Void
    ) async throws -> Int {
        let migrator = try Migrator(migrations(folder))
        return try await onDatabase(databaseURL) { database in
            let pending = try await migrator.pending(database)
            if isDryRun { pending.forEach(progress) } else { try await migrator.run(database, progress: progress) }
            return pending.count
        }
    }

    /// How many migrations the database lacks.
    /// - Throws: `Migrator.Fault` when the database is newer than the files or differs from them.
    public static func pending(folder: String, databaseURL: String) async throws -> Int {
        try await migrate(folder: folder, databaseURL: databaseURL, isDryRun: true) { _ in }
    }

    /// Runs `body` with one database session on a loop of its own.
    public static func onDatabase<Value: Sendable>(
        _ url: String, _ body: @escaping @Sendable (Database) async throws -> Value
    ) async throws -> Value {
        let options = try ConnectionOptions(url: url)
        let loop = try EventLoop(name: "nagz-tool")
        try loop.start()
        defer { loop.stop() }
        return try await loop.task { poller in
            var limits = Database.Limits()
            limits.connections = 1
            limits.queuePatience = .seconds(60)
            limits.givesUpOnFailure = true
            limits.exchangePatience = .seconds(3_600)
            let database = Database(options, limits: limits, poller: poller)
            database.open()
            defer { database.close() }
            return try await body(database)
        }
    }

    private static func migrations(_ folder: String) throws -> [Migrator.Migration] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().compactMap { name in
            Migrator.Migration(fileName: name, sql: try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8))
        }
    }
}
