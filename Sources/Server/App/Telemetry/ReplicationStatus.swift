import Postgres
import Reactor
import SQL

/// The primary's view of its standbys.
struct ReplicationStatus: Sendable {
    /// Whether the schema's owner may read the details. Otherwise `standbys` also counts running backups, and the other
    /// figures of the standbys are not known.
    let hasDetails: Bool
    let standbys: Int
    let synchronousStandbys: Int
    /// The end of the write-ahead log, in bytes since its beginning.
    let writtenPosition: Int
    /// The position up to which the slowest standby has replayed the log; nil where it is not known.
    let replayedPosition: Int?

    /// The FROM item whose row is read.
    static let source: SQL = "replication_status() r"
}

extension ReplicationStatus {
    /// Reads a row of `source`.
    init(_ row: Row) throws(PostgresError) {
        hasDetails = try row["is_visible"]
        standbys = try row["standbys"]
        synchronousStandbys = try row["synchronous"]
        writtenPosition = try row["written"]
        replayedPosition = try row["replayed"]
    }
}

/// The time that the slowest standby is behind, from positions that were read one after the other. PostgreSQL's own
/// `replay_lag` does not change while a standby replays nothing.
struct ReplicationLag {
    private static let maxMarks = 1_024

    /// The positions of the primary that the slowest standby has not replayed yet, and when they were read, ascending.
    private var marks: [(position: Int, at: MonotonicTime)] = []

    /// Adds the positions that were read at `now`.
    /// - Returns: the bytes and the time that the slowest standby is behind. The time may be too short, by at most the
    ///   time between two calls.
    mutating func update(_ status: ReplicationStatus, at now: MonotonicTime) -> (bytes: Int, time: Duration) {
        guard let replayed = status.replayedPosition else {
            marks = []
            return (0, .zero)
        }
        // Another server became the primary: its log may end earlier.
        if let last = marks.last, last.position > status.writtenPosition { marks = [] }
        marks.removeAll { $0.position <= replayed }
        if status.writtenPosition > max(replayed, marks.last?.position ?? 0) {
            // For a standby that is so far behind, every other mark is precise enough.
            if marks.count >= Self.maxMarks { marks = marks.enumerated().compactMap { $0 % 2 == 0 ? $1 : nil } }
            marks.append((status.writtenPosition, now))
        }
        return (max(0, status.writtenPosition - replayed), marks.first.map { now.elapsed(since: $0.at) } ?? .zero)
    }
}
