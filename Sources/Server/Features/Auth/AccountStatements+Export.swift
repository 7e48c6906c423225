import SQL

extension AccountStatements {
    /// Reads the person's account.
    static func exported(_ page: ExportPage) -> SQL {
        """
        SELECT u.id, jsonb_build_object(
            'id', u.id, 'email', u.email, 'phone', u.phone, 'display_name', u.display_name,
            'date_of_birth', u.date_of_birth, 'status', u.status, 'created_at', \(ExportPage.moment("u.created_at")))::text AS json
        FROM users u WHERE u.id = \(page.user) AND u.id > \(page.after) LIMIT \(page.limit)
        """
    }
}
