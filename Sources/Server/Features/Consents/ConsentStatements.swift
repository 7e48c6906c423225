import Domain
import SQL

/// Every statement on consents.
enum ConsentStatements {
    /// Whether a consent is in force for a person of a family: an SQL condition for the statements of other features, so
    /// that they ask in the very moment they read or write.
    ///
    /// In force is an unrevoked record from the person themself or from an active guardian of the family. `sms_opt_in`
    /// is the person's own affair: nobody can give it for them. That the person is an active member is not asked here.
    ///
    /// `user` and `family` are expressions of the statement around it, with their table's name before them, or values:
    /// `"u.id"`, `"\(userID)"`.
    static func inForce(_ type: ConsentType, user: SQL, family: SQL) -> SQL {
        if type == .smsOptIn {
            return """
                EXISTS (SELECT 1 FROM consents consent
                        WHERE consent.user_id = \(user) AND consent.family_id IS NULL
                        AND consent.consent_type = \(type) AND consent.revoked_at IS NULL)
                """
        }
        return """
            EXISTS (SELECT 1 FROM consents consent
                    WHERE consent.family_id = \(family) AND consent.consent_type = \(type)
                    AND consent.revoked_at IS NULL
                    AND (consent.user_id = \(user)
                         OR EXISTS (SELECT 1 FROM memberships granter
                                    WHERE granter.family_id = consent.family_id AND granter.user_id = consent.user_id
                                    AND granter.status = 'active' AND granter.role = 'guardian')))
            """
    }
}
