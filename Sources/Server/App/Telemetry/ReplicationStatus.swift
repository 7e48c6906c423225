import Postgres
import Reactor
import SQL

/// The primary's view of its standbys.
struct ReplicationStatus: Sendable {
    /// Whether the schema's owner may read the details; otherwise only standbys and running backups are counted.
    let isVisible: Bool
    let standbys: Int
    let synchronous: Int
    /// The end of the write-ahead log, and how much of it the slowest standby has replayed: bytes since its beginning.
    let written: Int
    let replayed: Int?

    /// Columns of a row, beside those of others.
    static let source: SQL = "replication_status() r"
}

extension ReplicationStatus {
    /// Reads a row of `source`.
    init(_ row: Row) throws(PostgresError) {
        isVisible = try row["is_visible"]
        standbys = try row["standbys"]
        synchronous = try row["synchronous"]
        written = try row["written"]
        replayed = try row["replayed"]
    }
}

/// The time that the slowest standby is behind, from positions seen one after the other. PostgreSQL's own `replay_lag`
/// stands still while a standby replays nothing.
struct ReplicationLag {
    private static let limit = 1_024

    /// Positions of the primary that the slowest standby has not replayed yet, and when they were seen, ascending.
    private var marks: [(position: Int, at: MonotonicTime)] = []

    /// - Returns: bytes and time that the slowest standby is behind. The time may be too short, by at most the time
    ///   between two calls.
    mutating func update(_ status: ReplicationStatus, at now: MonotonicTime) -> (bytes: Int, time: Duration) {
        guard let replayed = status.replayed else {
            marks = []
            return (0, .zero)
        }
        // Another server became the primary: its log may end earlier.
        if let last = marks.last, last.position > status.written { marks = [] }
        marks.removeAll { $0.position <= replayed }
        if status.written > max(replayed, marks.last?.position ?? 0) {
            // For a standby that is so far behind, every other mark is precise enough.
            if marks.count >= Self.limit { marks = marks.enumerated().compactMap { $0 % 2 == 0 ? $1 : nil } }
            marks.append((status.written, now))
        }
        return (max(0, status.written - replayed), marks.first.map { now.elapsed(since: $0.at) } ?? .zero)
    }
}
