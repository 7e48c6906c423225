import Domain
import SQL

extension IncentiveStatements {
    /// The retention rule for the effects of incentive rules, with the period of gamification events. Effects that
    /// still wait for a guardian are deleted too. The incentive rules stay.
    static let retention = RetentionRule(
        "incentive_events", GamificationStatements.retentionPeriod,
        countDue: { "SELECT count(*) AS count FROM incentive_events WHERE at < \($0)" },
        clearDue: { count, moment in
            """
            DELETE FROM incentive_events WHERE (family_id, id) IN (
                SELECT family_id, id FROM incentive_events WHERE at < \(moment) ORDER BY at LIMIT \(count))
            """
        })
}
