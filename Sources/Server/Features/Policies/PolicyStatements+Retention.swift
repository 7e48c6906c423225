import Domain
import SQL

extension PolicyStatements {
    /// The retention rule for the comments of approvals. The approvals themselves stay.
    static let retentionOfComments = RetentionRule(
        "approval_comments", Retention.twoYears,
        countDue: {
            "SELECT count(*) AS count FROM policy_approvals WHERE comment IS NOT NULL AND approved_at < \($0)"
        },
        clearDue: { count, moment in
            """
            UPDATE policy_approvals SET comment = NULL WHERE (family_id, id) IN (
                SELECT family_id, id FROM policy_approvals WHERE comment IS NOT NULL AND approved_at < \(moment)
                ORDER BY approved_at LIMIT \(count))
            """
        })
}
