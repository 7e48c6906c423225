import Domain
import SQL

extension AIStatements {
    static let retention = RetentionRule(
        "ai_mediation_events", Retention.twoYears,
        due: { "SELECT count(*) AS count FROM ai_mediation_events WHERE sync_ts < \($0)" },
        end: { count, moment in
            """
            DELETE FROM ai_mediation_events WHERE (family_id, sync_ts, id) IN (
                SELECT family_id, sync_ts, id FROM ai_mediation_events WHERE sync_ts < \(moment)
                ORDER BY sync_ts LIMIT \(count))
            """
        })
}
