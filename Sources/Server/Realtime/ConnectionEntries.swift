import Audit
import Domain
import Postgres
import SQL

/// The connections with unread changes, and the sequence number up to which each connection was read. It is a part of
/// the hub's state, and a pure value.
///
/// A connection's events go to sockets in the families of its people, who are known only when the entries are read.
struct ConnectionPositions {
    /// The largest number of connections whose positions are kept; when there are more, all positions are dropped. For
    /// a connection without a position, only its newest entries are read.
    private static let maxPositions = 10_000

    private var unread: Set<FamilyID> = []
    private var lastReadSeq: [FamilyID: Int64] = [:]

    var hasUnread: Bool { !unread.isEmpty }

    mutating func markChanged(_ connection: FamilyID) { unread.insert(connection) }

    /// Returns at most `limit` connections with unread changes and the sequence numbers up to which they were read, and
    /// marks them as read. The number is 0 for a connection without a position.
    mutating func takeUnread(_ limit: Int) -> [(connection: FamilyID, seq: Int64)] {
        let taken = unread.prefix(limit)
        unread.subtract(taken)
        return taken.map { ($0, lastReadSeq[$0] ?? 0) }
    }

    /// Records that a connection's entries were read up to the sequence number.
    mutating func advance(_ connection: FamilyID, to seq: Int64) {
        if lastReadSeq.count >= Self.maxPositions { lastReadSeq = [:] }
        lastReadSeq[connection] = max(seq, lastReadSeq[connection] ?? 0)
    }
}

/// A new entry of a connection's audit log, with the event that it causes and the people who get it.
struct ConnectionEntry {
    /// The connection's index among those of which the statement reads entries.
    let index: Int
    let seq: Int64
    /// The event that clients get for the entry; nil for an entry that is not sent to clients.
    let event: FamilyEvent?

    /// Reads a row of `RealtimeStatements.entries(ofConnections:)`.
    init(_ row: Row) throws {
        let ordinal: Int = try row["ordinal"]
        (index, seq) = (ordinal - 1, try row["n"])
        let people: Set<UserID> = Set(try row.list("people") ?? [])
        guard let kind = AuditKind(rawValue: try row["kind"]), let eventKind = EventKind(kind), !people.isEmpty else {
            event = nil
            return
        }
        event = FamilyEvent(
            kind: eventKind, seq: seq, at: try row["at"], actor: try row["actor_id"], audience: .people(people),
            nag: try row["nag_id"])
    }
}
