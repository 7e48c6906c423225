import Domain
import SQL

extension AbuseReportStatements {
    /// The retention rule for abuse reports: a report is deleted 36 months after it was closed. An open report stays.
    static let retention = RetentionRule(
        "abuse_reports", Retention.threeYears,
        countDue: { "SELECT count(*) AS count FROM abuse_reports WHERE \(isClosed) AND updated_at < \($0)" },
        clearDue: { count, moment in
            """
            DELETE FROM abuse_reports WHERE id IN (
                SELECT id FROM abuse_reports WHERE \(isClosed) AND updated_at < \(moment)
                ORDER BY updated_at LIMIT \(count))
            """
        })

    private static let isClosed: SQL = "status IN ('resolved', 'dismissed')"
}
