import SQL

extension BlockStatements {
    /// Reads a page of the blocks that a person made, for an export.
    static func exported(_ page: ExportPage) -> SQL {
        """
        SELECT b.id, jsonb_build_object(
            'id', b.id, 'target_id', b.target_id, 'state', b.state,
            'created_at', \(ExportPage.moment("b.created_at")),
            'updated_at', \(ExportPage.moment("b.updated_at")))::text AS json
        FROM blocks b WHERE b.actor_id = \(page.user) AND b.id > \(page.after)
        ORDER BY b.id LIMIT \(page.limit)
        """
    }
}

extension AbuseReportStatements {
    /// Reads a page of the reports that a person made, for an export. Reports about them are not included.
    static func exported(_ page: ExportPage) -> SQL {
        """
        SELECT r.id, jsonb_build_object(
            'id', r.id, 'target_id', r.target_id, 'reason', r.reason, 'status', r.status,
            'created_at', \(ExportPage.moment("r.created_at")))::text AS json
        FROM abuse_reports r WHERE r.reporter_id = \(page.user) AND r.id > \(page.after)
        ORDER BY r.id LIMIT \(page.limit)
        """
    }
}
