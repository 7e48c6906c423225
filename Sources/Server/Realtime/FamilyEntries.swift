import Audit
import Domain
import Postgres

/// The new audit entries of one family, and the events that they cause.
struct FamilyEntries {
    /// The sequence number of the last entry; nil if there is none.
    private(set) var lastSeq: Int64?
    private(set) var events: [FamilyEvent] = []
    private var count = 0

    /// Whether there may be more entries than were read.
    var isFull: Bool { count == RealtimeStatements.maxEntriesPerFamily }

    /// Reads the rows of `RealtimeStatements.entries`.
    /// - Returns: one for each of the families, in their order.
    static func read(_ rows: Rows, of familyCount: Int) throws -> [FamilyEntries] {
        var all = [FamilyEntries](repeating: FamilyEntries(), count: familyCount)
        for row in rows {
            let ordinal: Int = try row["ordinal"]
            try all[ordinal - 1].append(row)
        }
        return all
    }

    private mutating func append(_ row: Row) throws {
        let seq: Int64 = try row["n"]
        (lastSeq, count) = (seq, count + 1)
        guard let kind = AuditKind(rawValue: try row["kind"]), let eventKind = EventKind(kind) else { return }
        let (at, actor): (Timestamp, UserID?) = (try row["at"], try row["actor_id"])
        let isOfMember = eventKind == .memberAdded || eventKind == .memberRemoved
        let subject: UserID? = try row["subject_id"]
        let (creator, recipient): (UserID?, UserID?) = (try row["creator_id"], try row["recipient_id"])
        let nag: NagID? = recipient == nil ? nil : try row["resource"]
        // An entry about several nags names their recipient, and no nag.
        let audience: FamilyEvent.Audience =
            isOfMember ? .everybody : .guardians(and: creator, nag == nil ? subject : recipient)
        events.append(
            FamilyEvent(
                kind: eventKind, seq: seq, at: at, actor: actor, audience: audience, nag: nag,
                member: isOfMember ? subject : nil))
        if try row["has_points"] {
            events.append(
                FamilyEvent(
                    kind: .gamificationEvent, seq: seq, at: at, actor: actor,
                    audience: .guardians(and: recipient, nil), member: recipient))
        }
    }
}
