import Domain
import SQL

/// Every statement on consents.
enum ConsentStatements {
    /// A condition: whether a consent is in force for a person, given by themself or by a guardian of the family.
    ///
    /// `user` and `family` are SQL expressions of the statement around it, or values: `"u.id"`, `"\(userID)"`.
    static func inForce(_ type: ConsentType, user: SQL, family: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM consents k WHERE k.family_id = \(family) AND k.consent_type = \(type)
            AND k.revoked_at IS NULL AND (k.user_id = \(user) OR EXISTS (
                SELECT 1 FROM memberships g WHERE g.family_id = k.family_id AND g.user_id = k.user_id
                    AND g.role = 'guardian' AND g.status = 'active')))
        """
    }
}
