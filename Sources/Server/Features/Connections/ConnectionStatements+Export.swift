import Domain
import SQL

extension ConnectionStatements {
    /// Reads a person's connections and invitations, in both directions, as the person sees them. The address is the
    /// one that the inviter wrote.
    static func exported(_ page: ExportPage) -> SQL {
        """
        SELECT c.id, jsonb_build_object(
            'id', c.id, 'inviter_id', c.inviter_id, 'invitee_id', c.shown_invitee_id, 'invitee_email', c.invitee_email,
            'status', c.status, 'caregiver', c.caregiver, 'created_at', \(ExportPage.moment("c.created_at")),
            'responded_at', \(ExportPage.moment("c.responded_at")))::text AS json
        FROM (\(connections(of: "\(page.user)", address: AccountStatements.email(of: page.user)))) c
        WHERE c.id > \(page.after) ORDER BY c.id LIMIT \(page.limit)
        """
    }

    /// Selects the IDs of the connections that a person is or was a party to.
    static func currentAndFormerIDs(of user: UserID) -> SQL {
        "SELECT c.id FROM connections c WHERE c.inviter_id = \(user) OR c.invitee_id = \(user)"
    }
}
