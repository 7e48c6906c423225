import Domain
import SQL

/// The statements of reports.
enum ReportStatements {
    /// Counts the nags due in a period, bounds included, by their outcome: a row for each category and week.
    /// - Parameter weekStarts: the starts of weeks, ascending. The column `week` is 1 for the first of these weeks; it
    ///   is 0 for nags that were due before it, and for all nags if there are no starts.
    static func outcomeCounts(
        of family: FamilyID, from start: Timestamp?, through end: Timestamp?, weekStarts: [Timestamp]
    ) -> SQL {
        let week: SQL =
            weekStarts.isEmpty
            ? "0" : "width_bucket(due_at, ARRAY[\(SQL.joined(weekStarts.map { "\($0)" }, separator: ", "))])"
        return """
            SELECT \(week) AS week, category, count(*) AS total,
                   count(*) FILTER (WHERE status = 'completed') AS completed,
                   count(*) FILTER (WHERE status = 'completed' AND completed_at <= due_at) AS on_time,
                   count(*) FILTER (WHERE status = 'missed') AS missed
            FROM nags WHERE \(wasDueInPeriod(family, start, end)) GROUP BY week, category
            """
    }

    /// Counts the excuses of each category that were submitted for the nags due in a period, bounds included.
    static func excuseCounts(of family: FamilyID, from start: Timestamp, through end: Timestamp) -> SQL {
        """
        SELECT x.category, count(*) AS count
        FROM nags JOIN excuses x ON x.family_id = nags.family_id AND x.nag_id = nags.id
        WHERE \(wasDueInPeriod(family, start, end)) GROUP BY x.category
        """
    }

    /// Reads the median time in whole seconds from the first notification of a nag to its completion, over the nags due
    /// in a period, bounds included: a row for each recipient, and one without a recipient for all of them.
    static func responseTimes(of family: FamilyID, from start: Timestamp, through end: Timestamp) -> SQL {
        """
        SELECT nags.recipient_id, count(*) AS answered,
               round(percentile_cont(0.5) WITHIN GROUP (
                   ORDER BY extract(epoch FROM nags.completed_at - d.first_at)))::bigint AS seconds
        FROM nags CROSS JOIN LATERAL (
            SELECT min(coalesce(first_sent_at, sent_at)) AS first_at FROM deliveries
            WHERE deliveries.family_id = nags.family_id AND deliveries.nag_id = nags.id
                AND deliveries.user_id = nags.recipient_id AND deliveries.status IN ('sent', 'delivered')
        ) d
        WHERE \(wasDueInPeriod(family, start, end)) AND nags.status = 'completed' AND nags.completed_at >= d.first_at
        GROUP BY GROUPING SETS ((nags.recipient_id), ()) ORDER BY nags.recipient_id
        """
    }

    /// Returns the condition that a nag was due in a period. Withdrawn and cancelled nags do not count.
    private static func wasDueInPeriod(_ family: FamilyID, _ start: Timestamp?, _ end: Timestamp?) -> SQL {
        var conditions: [SQL] = [
            "nags.family_id = \(family)", "nags.status NOT IN ('withdrawn', 'cancelled_relationship_change')",
        ]
        if let start { conditions.append("nags.due_at >= \(start)") }
        if let end { conditions.append("nags.due_at <= \(end)") }
        return .joined(conditions, separator: " AND ")
    }
}
