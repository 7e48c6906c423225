import Domain
import SQL

/// Every statement on accounts (the table `users`).
enum AccountStatements {
    /// The columns that `Person` reads: of an account `u` and its active membership `m`.
    static let personColumns: SQL =
        """
        u.id, u.pseudonym, u.email, u.display_name, u.status, u.created_at, m.family_id, m.role,
        u.status <> 'deleted' AND \(AdminStatements.isAdministrator("u.id")) AS is_admin
        """
    static let activeMembershipJoin: SQL = "LEFT JOIN memberships m ON m.user_id = u.id AND m.status = 'active'"

    /// Reads a `Person` with their `password_hash` and `password_set_at`, and the `seq` of `chain`. No row: there is no
    /// account with that address. `is_known_address` says whether the account has used a network address with
    /// one of the hashes, and `is_known_device` whether it has signed in on the device whose secret has the hash
    /// `deviceHash`.
    static func byEmail(
        _ email: String, from addressHashes: [[UInt8]], on deviceHash: [UInt8]? = nil, at now: Timestamp,
        chain: FamilyID = .outside
    ) -> SQL {
        """
        SELECT \(personColumns), u.password_hash, u.password_set_at, c.seq,
               \(KnownAddressStatements.isKnown(addressHashes, at: now)) AS is_known_address,
               \(DeviceSecretStatements.isKnown(deviceHash, at: now)) AS is_known_device
        FROM users u \(activeMembershipJoin) JOIN family_clock c ON c.family_id = \(chain)
        WHERE u.email = \(email) AND u.status <> 'deleted'
        """
    }

    /// A condition: the account `u` was made inside that family and has no sign-in of its own. An
    /// administrator's account is not a family account. `family` is an SQL expression.
    static func isFamilyAccount(of family: SQL) -> SQL {
        """
        (u.made_in_family IS NOT DISTINCT FROM \(family) AND u.email IS NULL AND u.password_hash IS NULL
         AND NOT EXISTS (SELECT 1 FROM admins a WHERE a.user_id = u.id))
        """
    }

    /// Reads the `id` of the account with an email address, whatever its status.
    static func idByEmail(_ email: String) -> SQL {
        "SELECT u.id FROM users u WHERE u.email = \(email)"
    }

    /// An expression: an account's email address; null if it has none.
    static func email(of user: UserID) -> SQL { "(SELECT w.email FROM users w WHERE w.id = \(user))" }

    /// Reads the `Person` with an id. No row: the account was deleted, or never existed.
    static func byID(_ user: UserID) -> SQL {
        "SELECT \(personColumns) FROM users u \(activeMembershipJoin) WHERE u.id = \(user) AND u.status <> 'deleted'"
    }

    /// Reads the account's `status`, `created_at` and `phone`, and whether it `has_date_of_birth`.
    static func profile(_ user: UserID) -> SQL {
        "SELECT status, created_at, phone, date_of_birth IS NOT NULL AS has_date_of_birth FROM users WHERE id = \(user)"
    }

    /// Part of an act: sets the name and the date of birth where the account has none.
    static func fillMissing(_ user: UserID, name: String?, dateOfBirth: CivilDate?) -> SQL {
        """
        UPDATE users SET display_name = coalesce(display_name, \(name)),
            date_of_birth = coalesce(date_of_birth, \(dateOfBirth?.description)::date)
        FROM ledger_stamp WHERE users.id = \(user)
        """
    }

    /// Part of an act: makes an account. A taken address violates `users_email_key`.
    /// - Parameter family: the family whose guardian makes it; nil for a person's own account.
    static func insert(
        _ person: Person, passwordHash: String?, dateOfBirth: CivilDate?, madeIn family: FamilyID? = nil
    ) -> SQL {
        """
        INSERT INTO users (id, email, display_name, password_hash, date_of_birth, status, pseudonym, created_at,
                           made_in_family)
        SELECT \(person.id), \(person.email), \(person.displayName), \(passwordHash),
               \(dateOfBirth?.description)::date, \(person.status), \(person.pseudonym), \(person.createdAt),
               \(family)
        FROM ledger_stamp
        """
    }

    /// Part of an act: stores a new hash of the same password, unless another password has been set meanwhile.
    static func replacePasswordHash(of user: UserID, _ old: String?, by new: String) -> SQL {
        """
        UPDATE users SET password_hash = \(new) FROM ledger_stamp
        WHERE users.id = \(user) AND users.password_hash = \(old)
        """
    }

    /// Reads the time at which a change or a code set the password; null if it is still that of the sign-up.
    static func passwordSetAt(_ user: UserID) -> SQL { "SELECT password_set_at FROM users WHERE id = \(user)" }

    /// Part of an act: sets the password.
    static func setPassword(of user: UserID, _ hash: String, at now: Timestamp) -> SQL {
        """
        UPDATE users SET password_hash = \(hash), password_set_at = \(now) FROM ledger_stamp
        WHERE users.id = \(user) AND users.status <> 'deleted'
        """
    }

    /// Part of an act: sets the email address. A taken one violates `users_email_key`.
    static func setEmail(of user: UserID, _ email: String) -> SQL {
        "UPDATE users SET email = \(email) FROM ledger_stamp WHERE users.id = \(user) AND users.status <> 'deleted'"
    }

    /// Part of an act: sets the telephone number; nil removes it.
    static func setPhone(of user: UserID, _ phone: String?) -> SQL {
        "UPDATE users SET phone = \(phone) FROM ledger_stamp WHERE users.id = \(user) AND users.status <> 'deleted'"
    }

    /// Part of an act: sets the name.
    static func setName(of user: UserID, _ name: String) -> SQL {
        "UPDATE users SET display_name = \(name) FROM ledger_stamp WHERE users.id = \(user)"
    }

    /// Part of an act: activates the account of a person who has become a child of a family.
    static func activate(_ user: UserID) -> SQL {
        """
        UPDATE users SET status = 'active' FROM ledger_stamp
        WHERE users.id = \(user) AND users.status = 'pending_guardian_consent'
        """
    }

    /// Parts of an act: delete an account. Nobody can sign in to it again, its email address is free for another
    /// account, its telephone number is removed, and the consents that the person gave for themselves are revoked.
    static func delete(_ user: UserID, at now: Timestamp) -> [SQL] {
        [
            """
            UPDATE users SET status = 'deleted', deleted_at = \(now), email = NULL, password_hash = NULL, phone = NULL
            FROM ledger_stamp WHERE users.id = \(user) AND users.status <> 'deleted'
            """,
            ConsentStatements.revokePersonal(of: user, at: now), KnownAddressStatements.deleteAll(of: user),
            AccountCodeStatements.deleteAll(of: user), DeviceSecretStatements.deleteAll(of: user),
            PhoneCodeStatements.delete(of: user),
        ]
    }

    // MARK: Purging

    /// Reads the `id` of accounts that wait for a guardian, were created up to a moment, and never had a family; the
    /// oldest first.
    static func unclaimed(createdUpTo moment: Timestamp, limit: Int) -> SQL {
        """
        SELECT u.id FROM users u
        WHERE u.status = 'pending_guardian_consent' AND u.created_at <= \(moment)
            AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id AND m.status = 'removed')
        ORDER BY u.created_at LIMIT \(limit)
        """
    }

    /// Reads the `id` and `deleted_at` of accounts that were deleted up to a moment and not purged, the oldest
    /// deletions first.
    static func unpurgedAccounts(deletedUpTo moment: Timestamp, limit: Int) -> SQL {
        """
        SELECT id, deleted_at FROM users
        WHERE status = 'deleted' AND purged_at IS NULL AND deleted_at <= \(moment)
        ORDER BY deleted_at LIMIT \(limit)
        """
    }

    /// Reads a deleted account that was not purged: its `pseudonym`, and the `seq` of the chain outside families.
    static func unpurgedAccount(_ user: UserID) -> SQL {
        """
        SELECT u.pseudonym, c.seq FROM users u JOIN family_clock c ON c.family_id = \(FamilyID.outside)
        WHERE u.id = \(user) AND u.status = 'deleted' AND u.purged_at IS NULL
        """
    }

    /// Part of an act: removes the personal data from a deleted account's row, except the id and the pseudonym.
    static func purge(_ user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE users SET display_name = NULL, date_of_birth = NULL, email = NULL, password_hash = NULL, phone = NULL,
            purged_at = \(now)
        FROM ledger_stamp WHERE users.id = \(user) AND users.status = 'deleted'
        """
    }

    /// Part of an act: marks the account as deleted, and removes the personal data from its row, except the id.
    static func erase(_ user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE users SET status = 'deleted', pseudonym = NULL, email = NULL, display_name = NULL, password_hash = NULL,
            date_of_birth = NULL, phone = NULL, deleted_at = coalesce(deleted_at, \(now))
        FROM ledger_stamp WHERE users.id = \(user)
        """
    }
}
