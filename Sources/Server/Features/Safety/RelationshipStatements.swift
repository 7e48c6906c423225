import Domain
import SQL

/// Statements on the relationships between members. `MembershipStatements` has those that begin and end them.
enum RelationshipStatements {
    /// An expression: the status of the relationship between two members. It is active for one and the same person, and
    /// revoked if there is no relationship. All three parameters are SQL expressions or values.
    static func status(between one: SQL, and other: SQL, in family: SQL) -> SQL {
        """
        CASE WHEN \(one) = \(other) THEN 'active' ELSE coalesce((
            SELECT r.status FROM relationships r WHERE r.family_id = \(family)
                AND r.party_a = least(\(one), \(other)) AND r.party_b = greatest(\(one), \(other))), 'revoked') END
        """
    }

    /// A condition: a guardian has suspended the relationship of two people, in any family. Both are SQL expressions or
    /// values.
    static func isSuspended(between one: SQL, and other: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM relationships r JOIN memberships m ON m.family_id = r.family_id
            WHERE m.user_id = \(one) AND r.party_a = least(\(one), \(other)) AND r.party_b = greatest(\(one), \(other))
                AND r.status = 'suspended')
        """
    }

    /// Reads the relationship with the ID `id`; if there is none, the caller's relationship with the user whose ID it
    /// is.
    static func relationship(_ id: RelationshipID, from caller: UserID, in family: FamilyID) -> SQL {
        """
        SELECT r.id, r.party_a, r.party_b, r.status, u.pseudonym AS other_pseudonym
        FROM relationships r
        LEFT JOIN users u ON u.id = CASE WHEN r.party_a = \(caller) THEN r.party_b ELSE r.party_a END
        WHERE r.family_id = \(family) AND (r.id = \(id)
            OR (r.party_a = least(\(caller), \(id)) AND r.party_b = greatest(\(caller), \(id))))
        ORDER BY (r.id = \(id)) DESC LIMIT 1
        """
    }

    static func suspend(_ id: RelationshipID) -> SQL {
        """
        UPDATE relationships SET status = 'suspended'
        FROM ledger_stamp WHERE relationships.family_id = ledger_stamp.family_id AND relationships.id = \(id)
        """
    }
}
