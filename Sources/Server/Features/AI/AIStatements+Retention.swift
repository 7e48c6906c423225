import Domain
import SQL

extension AIStatements {
    static let retention = RetentionRule(
        "ai_mediation_events", Retention.twoYears,
        countDue: { "SELECT count(*) AS count FROM ai_mediation_events WHERE sync_ts < \($0)" },
        clearDue: { count, moment in
            """
            DELETE FROM ai_mediation_events WHERE (family_id, sync_ts, id) IN (
                SELECT family_id, sync_ts, id FROM ai_mediation_events WHERE sync_ts < \(moment)
                ORDER BY sync_ts LIMIT \(count))
            """
        })

    /// The answers to a person's own questions, in the families that they are or were in and about nags of their
    /// connections. Push-backs and sent digests are not among them: they are also others' history, and the policy's
    /// limits count push-backs.
    static let answersToPerson = PersonalRows(
        keys: { user, limit in
            """
            SELECT family_id, sync_ts, id FROM ai_mediation_events
            WHERE actor_id = \(user) AND (
                    family_id IN (\(MembershipStatements.currentAndFormerFamilyIDs(of: user)))
                    OR family_id IN (\(NagStatements.nagConnectionIDs(of: user))))
                AND prompt_type NOT IN ('push_back', 'push_back_refused', 'digest_sent')
            LIMIT \(limit)
            """
        },
        erase: { "DELETE FROM ai_mediation_events WHERE (family_id, sync_ts, id) IN (\($0))" })
}
