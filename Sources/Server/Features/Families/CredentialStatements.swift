import Domain
import SQL

/// Every statement on children's user names and PINs (the table `child_credentials`).
enum CredentialStatements {
    /// Reads the active children who have a PIN in the family with that child code: for each the columns of `Person`,
    /// `username` and `pin_hash`, and the family's `seq`. Accounts with a sign-in of their own are never among them.
    static func children(childCode: String) -> SQL {
        """
        SELECT \(AccountStatements.personColumns), k.username, k.pin_hash, c.seq
        FROM families f
        JOIN family_clock c ON c.family_id = f.id
        JOIN child_credentials k ON k.family_id = f.id
        JOIN memberships m
            ON m.family_id = f.id AND m.user_id = k.user_id AND m.status = 'active' AND m.role = 'child'
        JOIN users u ON u.id = k.user_id AND u.status = 'active' AND \(AccountStatements.isFamilyAccount(of: "f.id"))
        WHERE f.child_code = \(childCode)
        """
    }

    /// Reads the user names of a family's other children.
    static func usernames(in family: FamilyID, besides user: UserID) -> SQL {
        "SELECT username FROM child_credentials WHERE family_id = \(family) AND user_id <> \(user)"
    }

    static func pinHash(of user: UserID, in family: FamilyID) -> SQL {
        "SELECT pin_hash FROM child_credentials WHERE family_id = \(family) AND user_id = \(user)"
    }

    // MARK: Statements of an act

    /// Sets or replaces a child's user name and PIN. If another child of the family has the name, the statement
    /// violates `child_usernames`.
    static func setLogin(_ username: String, pinHash: String, for user: UserID, at now: Timestamp) -> SQL {
        """
        INSERT INTO child_credentials (family_id, user_id, username, pin_hash, set_at)
        SELECT family_id, \(user), \(username), \(pinHash), \(now) FROM ledger_stamp
        ON CONFLICT (family_id, user_id) DO UPDATE SET
            username = excluded.username, pin_hash = excluded.pin_hash, set_at = excluded.set_at
        """
    }

    static func setPINHash(_ pinHash: String, for user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE child_credentials SET pin_hash = \(pinHash), set_at = \(now) FROM ledger_stamp
        WHERE child_credentials.family_id = ledger_stamp.family_id AND user_id = \(user)
        """
    }

    static func delete(of user: UserID) -> SQL {
        """
        DELETE FROM child_credentials USING ledger_stamp
        WHERE child_credentials.family_id = ledger_stamp.family_id AND user_id = \(user)
        """
    }
}
