import SQL

/// Statements on one session between BEGIN and COMMIT.
public final class Transaction: Queries {
    private let connection: Connection
    private var isBegun = false
    private var isOver = false

    init(_ connection: Connection) { self.connection = connection }

    /// The statement after which a transaction waits no longer than that for each lock.
    static func lockTimeout(_ timeout: Duration) -> SQL {
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
        if isBegun { return try await connection.pipeline(statements) }
        isBegun = true
        return Array(try await connection.pipeline(["BEGIN"] + statements).dropFirst())
    }

    /// Runs several statements in one text, without parameters, and drops what they return: for migrations.
    public func run(script: String) async throws(PostgresError) {
        if !isBegun { _ = try await pipeline([]) }
        try await connection.run(script: script)
    }

    /// - Throws: also when a statement had failed before, which the caller of the transaction may have ignored.
    func commit() async throws(PostgresError) {
        guard let rows = try await end("COMMIT"), rows.command != "COMMIT" else { return }
        throw .refused(.rolledBack)
    }

    func rollBack() async throws(PostgresError) { _ = try await end("ROLLBACK") }

    /// Nil when there is nothing to end.
    private func end(_ statement: SQL) async throws(PostgresError) -> Rows? {
        guard isBegun, !isOver else { return nil }
        isOver = true
        return try await connection.pipeline([statement]).first
    }
}
