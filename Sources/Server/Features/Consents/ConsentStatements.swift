import Contract
import Domain
import SQL

/// Every statement on consents.
enum ConsentStatements {
    /// A condition: a consent is in force for a person of a family. Statements of other features contain it, so that
    /// they check the consent in the snapshot that they read or write in.
    ///
    /// A consent is in force if there is an unrevoked record from the person or from an active guardian of the family.
    /// `sms_opt_in` is personal: nobody can give it for others. Whether the person is an active member is not checked
    /// here.
    ///
    /// `user` and `family` are expressions of the enclosing statement, qualified with their table's name, or values:
    /// `"u.id"`, `"\(userID)"`. `condition` is a condition on the row `consent`, which records of a family must
    /// meet. It has no effect on `sms_opt_in`.
    static func isInForce(_ type: ConsentType, user: SQL, family: SQL, where condition: SQL = "true") -> SQL {
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
                    AND consent.revoked_at IS NULL AND \(condition)
                    AND (consent.user_id = \(user) OR \(wasGivenByGuardian("consent"))))
            """
    }

    /// A condition: an active guardian gave the consent. It avoids EXISTS, for which the planner may read the guardians
    /// of all families.
    private static func wasGivenByGuardian(_ consent: SQL) -> SQL {
        """
        (SELECT granter.status = 'active' AND granter.role = 'guardian' FROM memberships granter
         WHERE granter.family_id = \(consent).family_id AND granter.user_id = \(consent).user_id)
        """
    }

    /// An expression: the people for whom a consent is in force in a family. It is null, which means everybody, if a
    /// guardian gave it; otherwise it lists those who gave it for themselves.
    ///
    /// `family` is as in `isInForce`; if it is null, the list is empty. `guardian` is an expression too: an active
    /// guardian of the family, whose record counts without a read of their role, or null.
    static func coveredPeople(of type: ConsentType, in family: SQL, guardian: SQL) -> SQL {
        """
        CASE WHEN \(isInForce(type, user: guardian, family: family)) THEN NULL
             ELSE ARRAY(SELECT consent.user_id FROM consents consent
                        WHERE consent.family_id = \(family) AND consent.consent_type = \(type)
                        AND consent.revoked_at IS NULL) END
        """
    }

    /// An expression: the largest `granted_seq` of a consent in force in a family. It grows whenever somebody joins
    /// `coveredPeople`.
    static func newestGrantedSeq(of type: ConsentType, in family: SQL) -> SQL {
        """
        (SELECT max(consent.granted_seq) FROM consents consent
         WHERE consent.family_id = \(family) AND consent.consent_type = \(type) AND consent.revoked_at IS NULL)
        """
    }

    // MARK: Reads

    /// Selects `is_in_force`: whether a consent is in force for a person of a family.
    static func status(_ type: ConsentType, for user: UserID, in family: FamilyID) -> SQL {
        "SELECT \(isInForce(type, user: "\(user)", family: "\(family)")) AS is_in_force"
    }

    private static let columns: SQL = "k.id, k.user_id, k.family_id, k.consent_type, k.revoked_at"

    /// Reads a page of the consents in force for the member, the oldest first. They are the member's own and the
    /// guardians', because clients read a listed consent as granted to the member.
    static func page(_ page: PageRequest, for member: Member) -> SQL {
        let isVisible: SQL = """
            k.revoked_at IS NULL AND (
                k.user_id = \(member.userID) AND (k.family_id = \(member.familyID) OR k.family_id IS NULL)
                OR k.family_id = \(member.familyID) AND \(wasGivenByGuardian("k")))
            """
        return page.select(columns, from: "consents", as: "k", where: isVisible, orderBy: "k.granted_at, k.id")
    }

    /// Reads every consent in force for each member of a family, as in `isInForce`, once for each person who gave it.
    static func consentsInForce(in family: FamilyID) -> SQL {
        """
        SELECT m.user_id, u.pseudonym, k.consent_type, k.granted_at, k.user_id AS giver_id, g.pseudonym AS giver
        FROM memberships m JOIN users u ON u.id = m.user_id
        CROSS JOIN LATERAL (
            SELECT c.user_id, c.consent_type, c.granted_at FROM consents c
            WHERE c.family_id = m.family_id AND c.revoked_at IS NULL
                AND (c.user_id = m.user_id OR \(wasGivenByGuardian("c")))
            UNION ALL
            SELECT c.user_id, c.consent_type, c.granted_at FROM consents c
            WHERE c.family_id IS NULL AND c.user_id = m.user_id AND c.revoked_at IS NULL
        ) k
        JOIN users g ON g.id = k.user_id
        WHERE m.family_id = \(family) AND m.status = 'active'
        ORDER BY m.joined_at, m.user_id, k.consent_type, k.granted_at, k.user_id
        """
    }

    /// Reads the types of the consents that are in force for a member, given by themselves or by a guardian.
    static func typesInForce(for user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT DISTINCT k.consent_type FROM consents k
        WHERE k.revoked_at IS NULL AND (
            k.family_id = \(family)
                AND (k.user_id = \(user) OR k.consent_type <> 'sms_opt_in' AND \(wasGivenByGuardian("k")))
            OR k.family_id IS NULL AND k.user_id = \(user))
        ORDER BY k.consent_type
        """
    }

    /// Reads a person's unrevoked consents of a type: for a family, or (nil) for themselves alone.
    static func unrevokedConsents(_ type: ConsentType, by user: UserID, in family: FamilyID?) -> SQL {
        """
        SELECT \(columns) FROM consents k
        WHERE k.user_id = \(user) AND k.consent_type = \(type) AND k.family_id IS NOT DISTINCT FROM \(family)
            AND k.revoked_at IS NULL
        """
    }

    /// Counts the consents of a type that a person gave after `start`, in any family.
    static func countGiven(_ type: ConsentType, by user: UserID, since start: Timestamp) -> SQL {
        """
        SELECT count(*) AS count FROM consents k
        WHERE k.user_id = \(user) AND k.consent_type = \(type) AND k.granted_at > \(start)
        """
    }

    /// Reads a consent with its giver's pseudonym.
    static func consent(_ id: ConsentID) -> SQL {
        "SELECT \(columns), u.pseudonym FROM consents k JOIN users u ON u.id = k.user_id WHERE k.id = \(id)"
    }

    // MARK: Statements of an act

    static func insert(_ consent: ConsentResponse, at now: Timestamp) -> SQL {
        """
        INSERT INTO consents (id, user_id, family_id, consent_type, granted_at, granted_seq)
        SELECT \(consent.id), \(consent.userID), \(consent.familyID), \(consent.type), \(now), seq FROM ledger_stamp
        """
    }

    static func revoke(_ id: ConsentID, at now: Timestamp) -> SQL {
        """
        UPDATE consents SET revoked_at = greatest(granted_at, \(now)) FROM ledger_stamp
        WHERE id = \(id) AND revoked_at IS NULL
        """
    }

    /// Part of a departure or a promotion to guardian: revokes the consents that the person gave in the act's family.
    static func revokeInActFamily(of user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE consents SET revoked_at = greatest(granted_at, \(now)) FROM ledger_stamp
        WHERE consents.family_id = ledger_stamp.family_id AND user_id = \(user) AND revoked_at IS NULL
        """
    }

    /// Part of a deletion: revokes the consents that the person gave for themselves alone.
    static func revokePersonal(of user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE consents SET revoked_at = greatest(granted_at, \(now)) FROM ledger_stamp
        WHERE consents.family_id IS NULL AND user_id = \(user) AND revoked_at IS NULL
        """
    }
}
