import SQL

extension DeviceStatements {
    /// Reads a person's devices without their push tokens, which are secrets.
    static func exported(_ page: ExportPage) -> SQL {
        """
        SELECT d.id, jsonb_build_object(
            'id', d.id, 'platform', d.platform, 'created_at', \(ExportPage.moment("d.created_at")),
            'last_used_at', \(ExportPage.moment("d.last_used_at")))::text AS json
        FROM devices d WHERE d.user_id = \(page.user) AND d.id > \(page.after)
        ORDER BY d.id LIMIT \(page.limit)
        """
    }
}
