import Domain
import SQL

extension NagStatements {
    /// The largest number of nags that one act of `cancelOpenBatch` closes. An act may not stamp more rows of one type.
    static let cancelBatchSize = 400

    /// Parts of an act that close the open nags to a person as `cancelled_relationship_change`, `cancelBatchSize` at
    /// most, and append their `nag_cancelled` events. The act MUST have `stampedRows` for the closed nags and require
    /// `.nothingChanged`, and MUST be repeated until `countOpen` is 0.
    static func cancelOpenBatch(of recipient: UserID, in family: FamilyID, at now: Timestamp) -> [SQL] {
        cancelOpenBatch(where: "family_id = \(family) AND recipient_id = \(recipient)", at: now)
    }

    /// Parts of an act that close open nags of a connection in the same way, `cancelBatchSize` at most: all of them, or
    /// only those to children, who are not its parties.
    static func cancelOpenBatch(over connection: ConnectionID, toChildrenOnly: Bool, at now: Timestamp) -> [SQL] {
        let all: SQL = "family_id = \(connection)"
        return cancelOpenBatch(
            where: toChildrenOnly
                ? "\(all) AND NOT \(ConnectionStatements.isParty("n.recipient_id", of: "n.family_id"))" : all,
            at: now)
    }

    private static func cancelOpenBatch(where condition: SQL, at now: Timestamp) -> [SQL] {
        // Both statements see the database as it was before the act, so both choose the same nags.
        let chosen: SQL = """
            SELECT id, creator_id, recipient_id FROM nags n WHERE \(condition) AND status = 'open'
            ORDER BY id LIMIT \(cancelBatchSize)
            """
        return [
            """
            UPDATE nags SET status = 'cancelled_relationship_change', closed_at = \(now),
                            sync_seq = ledger_stamp.seq, sync_ts = ledger_stamp.ts
            FROM ledger_stamp WHERE nags.family_id = ledger_stamp.family_id AND nags.id IN (SELECT id FROM (\(chosen)) chosen)
            """,
            """
            INSERT INTO nag_events
                (family_id, id, nag_id, event_type, actor_id, creator_id, recipient_id, at, source, sync_seq, sync_ts)
            SELECT family_id, gen_random_uuid(), chosen.id, 'nag_cancelled', \(SystemActor.scheduler),
                   chosen.creator_id, chosen.recipient_id,
                   \(now), 'system', seq, ts
            FROM ledger_stamp, (\(chosen)) chosen
            """,
        ]
    }

    /// Counts a person's open nags, as `count`.
    static func countOpen(of recipient: UserID, in family: FamilyID) -> SQL {
        """
        SELECT count(*) AS count FROM nags
        WHERE family_id = \(family) AND recipient_id = \(recipient) AND status = 'open'
        """
    }
}
