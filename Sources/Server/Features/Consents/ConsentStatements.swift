import Contract
import Domain
import Postgres
import SQL

/// Every statement on consents.
enum ConsentStatements {
    /// Whether a consent is in force for a person of a family: an SQL condition for the statements of other features, so
    /// that they ask in the very moment they read or write.
    ///
    /// In force is an unrevoked record from the person themself or from an active guardian of the family. `sms_opt_in`
    /// is the person's own affair: nobody can give it for them. That the person is an active member is not asked here.
    ///
    /// - Parameters:
    ///   - person: an expression of type `uuid`: a column with its table's name before it, or `"\(userID)"`.
    ///   - family: the same for the family.
    static func inForce(_ type: ConsentType, for person: SQL, in family: SQL) -> SQL {
        if type == .smsOptIn {
            return """
                EXISTS (SELECT 1 FROM consents consent
                        WHERE consent.user_id = \(person) AND consent.family_id IS NULL
                        AND consent.consent_type = \(type) AND consent.revoked_at IS NULL)
                """
        }
        return """
            EXISTS (SELECT 1 FROM consents consent
                    WHERE consent.family_id = \(family) AND consent.consent_type = \(type)
                    AND consent.revoked_at IS NULL
                    AND (consent.user_id = \(person)
                         OR EXISTS (SELECT 1 FROM memberships granter
                                    WHERE granter.family_id = consent.family_id AND granter.user_id = consent.user_id
                                    AND granter.status = 'active' AND granter.role = 'guardian')))
            """
    }

    /// The same for a person and a family that are known.
    static func inForce(_ type: ConsentType, for person: UserID, in family: FamilyID) -> SQL {
        inForce(type, for: "\(person)", in: "\(family)")
    }
}
