import SQL

/// Applies the numbered SQL files that a database lacks, in order. Each file runs in one transaction with its row in
/// `schema_migrations`. There are no downgrades.
///
/// Several processes may run it at once: an advisory lock admits one. If the database is newer than the program, or an
/// applied file has changed, nothing is applied. If the process dies, the current migration is rolled back and earlier
/// ones remain. Servers may run meanwhile: the migrator waits only briefly for table locks, and tries again.
public struct Migrator: Sendable {
    /// One file: `0001_identity.sql` is number 1 with the name `identity`.
    public struct Migration: Sendable {
        public let number: Int
        public let name: String
        public let sql: String

        /// Creates a migration; nil unless the file name is a number, an underscore, a name and `.sql`.
        public init?(fileName: String, sql: String) {
            guard fileName.hasSuffix(".sql"), let underscore = fileName.firstIndex(of: "_"),
                case let digits = fileName[..<underscore], digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(digits), number > 0
            else { return nil }
            self.number = number
            name = String(fileName[fileName.index(after: underscore)...].dropLast(4))
            self.sql = sql
        }
    }

    /// A reason why migrations are not applied.
    public enum MigrationError: Error, CustomStringConvertible {
        /// The database has a migration of this number, which the program lacks.
        case newerDatabase(number: Int)
        case changed(number: Int, name: String)
        /// The files' numbers are not 1, 2, 3, …: `expected` is missing.
        case gap(expected: Int)
        /// Two files have this number.
        case duplicate(number: Int)
        /// A statement of the migration failed, or did not get its lock in any of the attempts.
        case failed(number: Int, name: String, reason: String)

        public var description: String {
            switch self {
            case .newerDatabase(let number):
                "the database is newer than this program (migration \(number)): install the newer program"
            case .changed(let number, let name):
                "migration \(number) (\(name)) was changed after it was applied: restore the file"
            case .gap(let expected): "migration \(expected) is missing in the folder: restore its file"
            case .duplicate(let number):
                "two files in the folder are migration \(number): remove the one that is not this program's"
            case .failed(let number, let name, let reason): "migration \(number) (\(name)) failed: \(reason)"
            }
        }
    }

    /// The maximum number of attempts of a migration that does not get its locks.
    private static let attemptLimitPerMigration = 15

    private let migrations: [Migration]

    public init(_ migrations: [Migration]) throws(MigrationError) {
        self.migrations = migrations.sorted { $0.number < $1.number }
        for (index, migration) in self.migrations.enumerated() where migration.number != index + 1 {
            throw migration.number <= index ? .duplicate(number: migration.number) : .gap(expected: index + 1)
        }
    }

    /// Returns the migrations that are not applied yet, without applying any.
    /// - Throws: `MigrationError` if the database is newer than the program, or an applied file has changed.
    public func pendingMigrations(_ queries: any Queries) async throws -> [Migration] {
        let exists: Bool = try await queries.query(
            "SELECT to_regclass('schema_migrations') IS NOT NULL AS exists"
        ).onlyRow()["exists"]
        guard exists else { return migrations }
        let appliedRows = try await queries.query(
            "SELECT number, name, checksum FROM schema_migrations ORDER BY number")
        for row in appliedRows {
            let number: Int = try row["number"]
            guard number <= migrations.count else { throw MigrationError.newerDatabase(number: number) }
            let migration = migrations[number - 1]
            let checksum: [UInt8] = try row["checksum"]
            let isUnchanged: Bool = try await queries.query(
                "SELECT sha256(convert_to(\(migration.sql), 'UTF8')) = \(checksum) AS same"
            ).onlyRow()["same"]
            guard isUnchanged else { throw MigrationError.changed(number: number, name: migration.name) }
        }
        return Array(migrations.dropFirst(appliedRows.count))
    }

    /// Applies the pending migrations; calls `beforeAttempt` before each attempt.
    /// - Parameter lockTimeout: how long one attempt waits for a table lock: less than the servers' statement timeout.
    /// - Throws: `MigrationError`, or a `PostgresError` if the connection fails. Earlier migrations remain applied.
    public func run(
        _ database: Database, lockTimeout: Duration = .seconds(1), beforeAttempt: (Migration) -> Void
    ) async throws {
        var attempts = 0
        while let next = try await pendingMigrations(database).first {
            beforeAttempt(next)
            attempts += 1
            do {
                try await database.transaction { transaction in
                    _ = try await transaction.pipeline([
                        "SELECT pg_advisory_xact_lock(7239410023)",
                        """
                        CREATE TABLE IF NOT EXISTS schema_migrations (
                            number integer PRIMARY KEY, name text NOT NULL, checksum bytea NOT NULL,
                            applied_at timestamptz NOT NULL DEFAULT now())
                        """,
                    ])
                    // Another process may have applied it while this one waited for the lock.
                    guard try await pendingMigrations(transaction).first?.number == next.number else { return }
                    _ = try await transaction.query(Transaction.lockTimeoutStatement(lockTimeout))
                    try await transaction.run(script: next.sql)
                    _ = try await transaction.query(
                        """
                        INSERT INTO schema_migrations (number, name, checksum)
                        VALUES (\(next.number), \(next.name), sha256(convert_to(\(next.sql), 'UTF8')))
                        """)
                }
                attempts = 0
            } catch PostgresError.refused(let refusal) {
                // Statements that waited for locks behind this attempt run before the next one.
                if refusal.sqlState == "55P03", attempts < Self.attemptLimitPerMigration { continue }
                throw MigrationError.failed(
                    number: next.number, name: next.name, reason: "\(refusal.message) (\(refusal.sqlState))")
            }
        }
    }
}
