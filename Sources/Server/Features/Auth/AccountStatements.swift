import Domain
import SQL

/// Every statement on accounts (the table `users`).
enum AccountStatements {
    /// What `Person` reads, of an account `u` and its active membership `m`.
    static let person: SQL =
        """
        u.id, u.pseudonym, u.email, u.display_name, u.status, u.created_at, m.family_id, m.role,
        EXISTS (SELECT 1 FROM admins a WHERE a.user_id = u.id AND a.revoked_at IS NULL) AS is_admin
        """
    static let membership: SQL = "LEFT JOIN memberships m ON m.user_id = u.id AND m.status = 'active'"

    /// A `person` with their `password_hash`.
    static func byEmail(_ email: String) -> SQL {
        """
        SELECT \(person), u.password_hash FROM users u \(membership)
        WHERE u.email = \(email) AND u.status <> 'deleted'
        """
    }

    /// A condition: the account `u` was made inside that family and has no sign-in of its own. An administrator's never is.
    /// `family` is an SQL expression.
    static func isFamilyAccount(of family: SQL) -> SQL {
        """
        (u.made_in_family IS NOT DISTINCT FROM \(family) AND u.email IS NULL AND u.password_hash IS NULL
         AND NOT EXISTS (SELECT 1 FROM admins a WHERE a.user_id = u.id))
        """
    }

    static func byID(_ user: UserID) -> SQL {
        "SELECT \(person) FROM users u \(membership) WHERE u.id = \(user) AND u.status <> 'deleted'"
    }

    /// A row of an act: opens an account. A taken email violates `users_email_key`.
    /// - Parameter family: the family whose guardian makes it; nil for a person's own.
    static func insert(
        _ person: Person, passwordHash: String?, dateOfBirth: CivilDate?, madeIn family: FamilyID? = nil
    ) -> SQL {
        """
        INSERT INTO users (id, email, display_name, password_hash, date_of_birth, status, pseudonym, created_at,
                           made_in_family)
        SELECT \(person.id), \(person.email), \(person.displayName), \(passwordHash),
               \(dateOfBirth.map(text))::date, \(person.status), \(person.pseudonym), \(person.createdAt),
               \(family)
        FROM tick
        """
    }

    /// A row of an act: the person has become a child of a family.
    static func activate(_ user: UserID) -> SQL {
        """
        UPDATE users SET status = 'active' FROM tick
        WHERE users.id = \(user) AND users.status = 'pending_guardian_consent'
        """
    }

    /// What the deletion of a member's account violates, and the admission of somebody whose account is deleted.
    static let deletedIsNoMember = "deleted_is_no_member"

    /// Rows of an act: nobody signs in to the account any more, and what the person consented to for themself is over.
    static func delete(_ user: UserID, at now: Timestamp) -> [SQL] {
        [
            """
            UPDATE users SET status = 'deleted', deleted_at = \(now) FROM tick
            WHERE users.id = \(user) AND users.status <> 'deleted'
            """,
            ConsentStatements.revokePersonal(of: user, at: now),
        ]
    }

    /// A row of an act: nothing of the person is left but the account's id.
    static func erase(_ user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE users SET status = 'deleted', pseudonym = NULL, email = NULL, display_name = NULL, password_hash = NULL,
            date_of_birth = NULL, deleted_at = coalesce(deleted_at, \(now))
        FROM tick WHERE users.id = \(user)
        """
    }

    private static func text(_ date: CivilDate) -> String {
        String(Timestamp(seconds: date.daysSinceEpoch * 86_400).rfc3339.prefix(10))
    }
}
