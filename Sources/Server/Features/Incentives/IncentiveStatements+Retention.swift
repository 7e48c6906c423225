import Domain
import SQL

extension IncentiveStatements {
    /// What the rules did, with their points: also what no guardian has confirmed in that time. Rules stay.
    static let retention = RetentionRule(
        "incentive_events", GamificationStatements.period,
        due: { "SELECT count(*) AS count FROM incentive_events WHERE at < \($0)" },
        end: { count, moment in
            """
            DELETE FROM incentive_events WHERE (family_id, id) IN (
                SELECT family_id, id FROM incentive_events WHERE at < \(moment) ORDER BY at LIMIT \(count))
            """
        })
}
