import SQL

extension ConnectionStatements {
    /// A person's connections and invitations, in both directions. The address is the one that the inviter wrote.
    static func exported(_ page: ExportPage) -> SQL {
        """
        SELECT c.id, jsonb_build_object(
            'id', c.id, 'inviter_id', c.inviter_id, 'invitee_id', c.invitee_id, 'invitee_email', c.invitee_email,
            'status', c.status, 'caregiver', c.caregiver, 'created_at', \(ExportPage.moment("c.created_at")),
            'responded_at', \(ExportPage.moment("c.responded_at")))::text AS json
        FROM connections c WHERE (c.inviter_id = \(page.user) OR c.invitee_id = \(page.user)) AND c.id > \(page.after)
        ORDER BY c.id LIMIT \(page.limit)
        """
    }
}
