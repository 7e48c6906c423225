import Domain
import SQL

extension GamificationStatements {
    /// The retention rule for gamification events. It adds deleted events to the `dropped_…` columns of
    /// `member_totals`, so that a member's totals can still be compared with the sums of their events.
    static let retention = RetentionRule(
        "gamification_events", retentionPeriod,
        countDue: { "SELECT count(*) AS count FROM gamification_events WHERE sync_ts < \($0)" },
        clearDue: { count, moment in
            """
            WITH dropped AS (
                DELETE FROM gamification_events WHERE (family_id, sync_ts, id) IN (
                    SELECT family_id, sync_ts, id FROM gamification_events WHERE sync_ts < \(moment)
                    ORDER BY sync_ts LIMIT \(count))
                RETURNING family_id, user_id, event_type, delta_points, streak_delta
            ), sums AS (
                SELECT family_id, user_id, sum(delta_points) AS points, sum(streak_delta) AS streak,
                       count(*) AS events, count(*) FILTER (WHERE event_type = 'nag_completed') AS completions
                FROM dropped GROUP BY family_id, user_id
            ), added AS (
                UPDATE member_totals t SET dropped_points = t.dropped_points + s.points,
                    dropped_streak = t.dropped_streak + s.streak, dropped_events = t.dropped_events + s.events,
                    dropped_completions = t.dropped_completions + s.completions
                FROM sums s WHERE t.family_id = s.family_id AND t.user_id = s.user_id
            )
            SELECT 1 AS dropped FROM dropped
            """
        })

    /// The period for which events are stored: 24 months. `nagz audit reconcile` expects no older ones.
    static let retentionPeriod = Retention.twoYears
}
