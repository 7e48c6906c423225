import Domain
import SQL

extension SessionStatements {
    /// Reads a page of a person's sessions that nobody has ended, for an export.
    static func exported(_ page: ExportPage) -> SQL {
        """
        SELECT s.id, jsonb_build_object(
            'id', s.id, 'client', s.client, 'is_child', s.is_child,
            'created_at', \(ExportPage.moment("s.created_at")),
            'expires_at', \(ExportPage.moment("s.expires_at")))::text AS json
        FROM sessions s WHERE s.user_id = \(page.user) AND s.revoked_at IS NULL AND s.id > \(page.after)
        ORDER BY s.id LIMIT \(page.limit)
        """
    }
}
