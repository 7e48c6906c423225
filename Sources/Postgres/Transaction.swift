import Reactor
import SQL

/// Runs statements on one session between BEGIN and COMMIT.
public final class Transaction: Queries {
    private let connection: Connection
    /// Returns a statement that limits the wait for locks from now on; nil if the sessions' own limit is enough.
    private let makeLockTimeoutStatement: () -> SQL?
    private var isBegun = false
    private var hasEnded = false

    init(_ connection: Connection, makeLockTimeoutStatement: @escaping () -> SQL? = { nil }) {
        self.connection = connection
        self.makeLockTimeoutStatement = makeLockTimeoutStatement
    }

    /// Returns a statement that sets how long the transaction waits for each lock.
    static func lockTimeoutStatement(_ timeout: Duration) -> SQL {
        let timeout = "\(timeout / .milliseconds(1))ms"
        return "SELECT set_config('lock_timeout', \(timeout), true)"
    }

    public func query(_ statement: SQL) async throws(PostgresError) -> Rows {
        let rows = try await pipeline([statement])
        guard let first = rows.first else { throw .unexpectedShape("no result") }
        return first
    }

    /// Runs the statements in one round trip.
    public func pipeline(_ statements: [SQL]) async throws(PostgresError) -> [Rows] {
        let preamble = (isBegun ? [] : ["BEGIN"]) + (makeLockTimeoutStatement().map { [$0] } ?? [])
        isBegun = true
        if preamble.isEmpty { return try await connection.pipeline(statements) }
        return Array(try await connection.pipeline(preamble + statements).dropFirst(preamble.count))
    }

    /// Runs a text of several statements without parameters and discards their results: for migrations.
    public func run(script: String) async throws(PostgresError) {
        if !isBegun { _ = try await pipeline([]) }
        try await connection.run(script: script)
    }

    /// Commits the transaction.
    /// - Throws: `refused` also if an earlier statement failed and the caller ignored its error.
    func commit() async throws(PostgresError) {
        guard let rows = try await end("COMMIT"), rows.commandTag != "COMMIT" else { return }
        throw .refused(.rolledBack)
    }

    func rollBack() async throws(PostgresError) { _ = try await end("ROLLBACK") }

    /// Sends the statement that ends the transaction. Returns nil if no transaction is open.
    private func end(_ statement: SQL) async throws(PostgresError) -> Rows? {
        guard isBegun, !hasEnded else { return nil }
        hasEnded = true
        return try await connection.pipeline([statement]).first
    }
}
