/// Why a statement has no result.
///
/// `description` is for logs and tells no values; nothing of it goes to a client.
public enum PostgresError: Error, Sendable, Hashable {
    /// The database cannot be reached, or has no connection free within the time allowed. Nothing was done.
    case unavailable(String)
    /// The connection broke while the statement was under way. A write MAY have been committed.
    case connectionLost
    /// The database refused the statement; the transaction it was in is rolled back.
    case refused(Refusal)
    /// A row does not have the shape that the program expects.
    case unexpectedShape(String)

    /// What the database said.
    public struct Refusal: Sendable, Hashable {
        /// Five characters, PostgreSQL's appendix A.
        public let sqlState: String
        public let constraint: String?
        public let table: String?
        /// A `COPY` that reads from or writes to the client.
        static let copyOverConnection = Refusal(
            sqlState: "0A000", constraint: nil, table: nil,
            message: "COPY FROM STDIN and COPY TO STDOUT are not supported")
        /// PostgreSQL answers `COMMIT` of an aborted transaction with success and rolls it back.
        static let rolledBack = Refusal(
            sqlState: "25P02", constraint: nil, table: nil,
            message: "the transaction was rolled back because one of its statements had failed")

        /// May quote values: for no log. `nagz migrate` alone shows it, to the operator whose statement it is about.
        public let message: String
    }

    public var sqlState: String? {
        if case .refused(let refusal) = self { refusal.sqlState } else { nil }
    }

    /// The name of the violated constraint, if that was the reason.
    public var constraint: String? {
        if case .refused(let refusal) = self { refusal.constraint } else { nil }
    }

    /// The task that waited was cancelled.
    static let cancelled = PostgresError.unavailable("whoever waited has gone")

    /// Why the database is unavailable, if that is the error.
    var reason: String? {
        if case .unavailable(let reason) = self { reason } else { nil }
    }

    /// A lock was not to be had in time, or the statement took too long.
    var isOutOfTime: Bool { sqlState == "55P03" || sqlState == "57014" }

    /// Deadlock or serialisation failure: the same work may succeed when done again.
    public var isRetryable: Bool { sqlState == "40P01" || sqlState == "40001" }
}

extension PostgresError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unavailable(let reason): "database unavailable: \(reason)"
        case .connectionLost: "database connection lost"
        case .refused(let refusal):
            "database error \(refusal.sqlState)"
                + (refusal.table.map { " on \($0)" } ?? "") + (refusal.constraint.map { " (\($0))" } ?? "")
        case .unexpectedShape(let what): "unexpected row shape: \(what)"
        }
    }
}
