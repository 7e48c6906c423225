import Domain
import SQL

extension AbuseReportStatements {
    /// 36 months after a report was closed; one that is not closed stays.
    static let retention = RetentionRule(
        "abuse_reports", Retention.threeYears,
        due: { "SELECT count(*) AS count FROM abuse_reports WHERE \(isClosed) AND updated_at < \($0)" },
        end: { count, moment in
            """
            DELETE FROM abuse_reports WHERE id IN (
                SELECT id FROM abuse_reports WHERE \(isClosed) AND updated_at < \(moment)
                ORDER BY updated_at LIMIT \(count))
            """
        })

    private static let isClosed: SQL = "status IN ('resolved', 'dismissed')"
}
