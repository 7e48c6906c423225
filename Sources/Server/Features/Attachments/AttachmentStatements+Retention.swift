import Domain
import SQL

extension AttachmentStatements {
    /// The retention rule for pictures: they are deleted together with the words of their nag.
    static let retention = RetentionRule(
        "attachments", Retention.twoYears,
        countDue: {
            "SELECT count(*) AS count FROM \(nagsWithAttachments) WHERE n.closed_at < \($0) AND n.has_attachments"
        },
        clearDue: { count, moment in
            """
            DELETE FROM attachments WHERE id = ANY(ARRAY(
                SELECT b.attachment_id FROM \(nagsWithAttachments) WHERE n.closed_at < \(moment) AND n.has_attachments
                ORDER BY n.closed_at LIMIT \(count)))
            """
        })

    private static let nagsWithAttachments: SQL =
        "nags n JOIN nag_attachments b ON b.family_id = n.family_id AND b.nag_id = n.id"

    /// The retention rule for uploads that no nag can use any more. It waits an hour longer, in case a nag is just
    /// being created with one.
    static let retentionOfUnused = RetentionRule(
        "unused_attachments", .hours(25),
        countDue: { "SELECT count(*) AS count FROM attachments WHERE NOT is_used AND created_at < \($0)" },
        clearDue: { count, moment in
            """
            DELETE FROM attachments WHERE id = ANY(ARRAY(
                SELECT id FROM attachments WHERE NOT is_used AND created_at < \(moment)
                ORDER BY created_at LIMIT \(count) FOR UPDATE SKIP LOCKED))
            """
        })
}
