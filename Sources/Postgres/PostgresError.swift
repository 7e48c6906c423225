/// A reason why a statement failed.
///
/// `description` is for logs: it contains no values. It MUST NOT be sent to a client.
public enum PostgresError: Error, Sendable, Hashable {
    /// The database cannot be reached, too many requests wait, no session became free in time, or the waiting task was
    /// cancelled. Nothing was executed.
    case unavailable(String)
    /// The connection was lost while the statement was in flight. A write MAY have been committed.
    case connectionLost
    /// The database refused the statement; its transaction is rolled back.
    case refused(Refusal)
    /// A result does not have the columns or types that the program expects.
    case unexpectedShape(String)

    /// The database's error report.
    public struct Refusal: Sendable, Hashable {
        /// The five-character error code (PostgreSQL, appendix A).
        public let sqlState: String
        public let constraint: String?
        public let table: String?
        /// The refusal of a `COPY` from or to the client.
        static let copyOverConnection = Refusal(
            sqlState: "0A000", constraint: nil, table: nil,
            message: "COPY FROM STDIN and COPY TO STDOUT are not supported")
        /// The refusal of a `COMMIT` of an aborted transaction, which PostgreSQL reports as success although it rolls
        /// back.
        static let rolledBack = Refusal(
            sqlState: "25P02", constraint: nil, table: nil,
            message: "the transaction was rolled back because one of its statements had failed")

        /// May contain values: MUST NOT be logged. Only `nagz migrate` prints it, for the operator.
        public let message: String
    }

    public var sqlState: String? {
        if case .refused(let refusal) = self { refusal.sqlState } else { nil }
    }

    /// The name of the violated constraint, if any.
    public var constraint: String? {
        if case .refused(let refusal) = self { refusal.constraint } else { nil }
    }

    /// The error of a waiting task that was cancelled.
    static let cancelled = PostgresError.unavailable("the request was cancelled")

    /// The reason of `unavailable`; nil for other errors.
    var unavailabilityReason: String? {
        if case .unavailable(let reason) = self { reason } else { nil }
    }

    /// Whether a lock or statement timeout occurred.
    var isLockOrStatementTimeout: Bool { sqlState == "55P03" || sqlState == "57014" }

    /// Whether this is a deadlock or a serialisation failure, so that the same transaction may succeed if repeated.
    public var isTransactionConflict: Bool { sqlState == "40P01" || sqlState == "40001" }
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
