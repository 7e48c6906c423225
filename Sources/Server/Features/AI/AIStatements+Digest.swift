import Domain
import SQL

extension AIStatements {
    /// Reads the active members of a family.
    /// - Parameter subject: the only member to read; nil for all.
    static func activeMembers(of family: FamilyID, subject: UserID?) -> SQL {
        let condition: SQL = subject.map { "AND m.user_id = \($0)" } ?? ""
        return """
            SELECT m.user_id, u.display_name FROM memberships m JOIN users u ON u.id = m.user_id
            WHERE m.family_id = \(family) AND m.status = 'active' \(condition)
            """
    }

    /// Reads the open nags, and those that were completed or missed after `start` and not after `end`.
    /// - Parameters:
    ///   - subject: the recipient whose nags are read; nil for all recipients.
    ///   - selected: the ids of the nags to read; nil for all nags.
    static func openAndResolvedNags(
        of family: FamilyID, subject: UserID?, selected: [ResourceID]? = nil, from start: Timestamp,
        to end: Timestamp
    ) -> SQL {
        let condition: SQL = subject.map { "AND n.recipient_id = \($0)" } ?? ""
        let selection: SQL = selected.map { "AND n.id = ANY(\(SQLList($0)))" } ?? ""
        let columns: SQL = "n.id, n.recipient_id, n.category, n.status, n.due_at, n.closed_at"
        return """
            SELECT \(columns) FROM nags n WHERE n.family_id = \(family) AND n.status = 'open' \(condition) \(selection)
            UNION ALL
            SELECT \(columns) FROM nags n
            WHERE n.family_id = \(family) AND n.status IN ('completed', 'missed') AND n.closed_at > \(start)
                AND n.closed_at <= \(end) \(condition) \(selection)
            """
    }

    /// Reads a row for each of these people, members or not, with the facts that decide whether the sender may send
    /// them a digest.
    static func digestRecipientFacts(_ people: [UserID], from sender: UserID, in family: FamilyID) -> SQL {
        """
        SELECT u.pseudonym, m.role, m.status,
               \(RelationshipStatements.status(between: "\(sender)", and: "o.id", in: "\(family)")) AS relationship,
               \(BlockStatements.isBlocked(between: "\(sender)", and: "o.id")) AS is_blocked
        FROM unnest(\(SQLList(people))::uuid[]) o (id)
        LEFT JOIN memberships m ON m.family_id = \(family) AND m.user_id = o.id
        LEFT JOIN users u ON u.id = m.user_id
        """
    }

    /// Returns a part of an act, which records a digest that is sent to these people. Its `nag_id` is zero.
    static func sendDigest(
        _ event: EventID, _ message: String, to recipients: [UserID], onBehalfOf user: UserID, at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO ai_mediation_events
            (family_id, id, nag_id, prompt_type, tone, summary, actor_id, recipient_ids, at, sync_seq, sync_ts)
        SELECT family_id, \(event), \(NagID(high: 0, low: 0)), 'digest_sent', 'neutral', \(message), \(user),
               \(SQLList(recipients))::uuid[], \(now), seq, ts FROM ledger_stamp
        """
    }
}
