import SQL

extension ConsentStatements {
    /// Reads the consents that a person gave, including revoked ones.
    static func exported(_ page: ExportPage) -> SQL {
        """
        SELECT c.id, jsonb_build_object(
            'id', c.id, 'family_id', c.family_id, 'consent_type', c.consent_type,
            'granted_at', \(ExportPage.moment("c.granted_at")),
            'revoked_at', \(ExportPage.moment("c.revoked_at")))::text AS json
        FROM consents c WHERE c.user_id = \(page.user) AND c.id > \(page.after)
        ORDER BY c.id LIMIT \(page.limit)
        """
    }
}
