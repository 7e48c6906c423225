import Domain
import SQL

extension IncentiveStatements {
    /// The rule for the effects of incentive rules, with their points: also those that no guardian has confirmed in
    /// that time. The incentive rules stay.
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
