import Domain
import SQL

extension MembershipStatements {
    /// A condition: the membership `m` is or was the person's. It names both statuses, because each has an index.
    static func isOrWasMember(of user: UserID) -> SQL {
        "((m.user_id = \(user) AND m.status = 'active') OR (m.user_id = \(user) AND m.status = 'removed'))"
    }

    /// Selects the IDs of the families that a person is or was in.
    static func currentAndFormerFamilyIDs(of user: UserID) -> SQL {
        "SELECT m.family_id FROM memberships m WHERE \(isOrWasMember(of: user))"
    }

    /// Reads a page of the families that a person is or was in, for an export. The `id` of a row is the family's.
    static func exported(_ page: ExportPage) -> SQL {
        """
        SELECT m.family_id AS id, jsonb_build_object(
            'family_id', m.family_id, 'role', m.role, 'status', m.status,
            'joined_at', \(ExportPage.moment("m.joined_at")),
            'removed_at', \(ExportPage.moment("m.removed_at")))::text AS json
        FROM memberships m WHERE \(isOrWasMember(of: page.user)) AND m.family_id > \(page.after)
        ORDER BY m.family_id LIMIT \(page.limit)
        """
    }
}
