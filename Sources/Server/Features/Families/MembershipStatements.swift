import Contract
import Domain
import SQL

/// Every statement on memberships, and on the relationships that begin and end with them.
enum MembershipStatements {
    // MARK: Reads

    /// The columns that `MemberRecord` reads.
    private static let recordColumns: SQL = """
        m.user_id, u.pseudonym, u.display_name, m.role, m.joined_at,
        EXISTS (SELECT 1 FROM child_credentials k WHERE k.family_id = m.family_id AND k.user_id = m.user_id)
            AS has_child_login,
        \(AccountStatements.isFamilyAccount(of: "m.family_id")) AS is_family_account
        """

    /// Reads an active member.
    static func member(_ user: UserID, of family: FamilyID) -> SQL {
        """
        SELECT \(recordColumns) FROM memberships m JOIN users u ON u.id = m.user_id
        WHERE m.family_id = \(family) AND m.user_id = \(user) AND m.status = 'active'
        """
    }

    /// Selects those of the users who are active members.
    static func activeMembers(among users: [UserID], in family: FamilyID) -> SQL {
        """
        SELECT user_id FROM memberships
        WHERE family_id = \(family) AND user_id = ANY(\(SQLList(users))) AND status = 'active'
        """
    }

    /// Reads an account that a guardian asks to add: its `role` if it is an active member, whether it was made in the
    /// family, and whether its owner and the guardian are separated by a block in either direction. No row for a
    /// deleted or unknown account.
    static func candidate(_ user: UserID, for family: FamilyID, by guardian: UserID) -> SQL {
        """
        SELECT u.id, u.pseudonym, u.status, m.role, m.joined_at,
               \(AccountStatements.isFamilyAccount(of: "\(family)")) AS is_family_account,
               \(BlockStatements.isBlocked(between: "\(user)", and: "\(guardian)")) AS is_blocked
        FROM users u
        LEFT JOIN memberships m ON m.user_id = u.id AND m.family_id = \(family) AND m.status = 'active'
        WHERE u.id = \(user) AND u.status <> 'deleted'
        """
    }

    /// Reads a page of the active members, in the order in which they joined.
    static func page(_ page: PageRequest, of family: FamilyID) -> SQL {
        page.select(
            recordColumns, from: "memberships", as: "m", where: "m.family_id = \(family) AND m.status = 'active'",
            joining: "LEFT JOIN users u ON u.id = m.user_id", orderBy: "m.joined_at, m.user_id")
    }

    /// Counts the active `members`, and as `other_guardians` the guardians besides `user` who have a password. An
    /// account that was made inside a family has no password, and cannot be the family's only guardian.
    static func memberAndOtherGuardianCounts(of family: FamilyID, besides user: UserID) -> SQL {
        """
        SELECT count(*) AS members,
               count(*) FILTER (WHERE m.role = 'guardian' AND m.user_id <> \(user) AND u.password_hash IS NOT NULL)
                   AS other_guardians
        FROM memberships m JOIN users u ON u.id = m.user_id
        WHERE m.family_id = \(family) AND m.status = 'active'
        """
    }

    /// Counts the active `members` of a family, and as `made` the accounts that were made in it since a moment.
    static func memberLimitCounts(of family: FamilyID, since moment: Timestamp) -> SQL {
        """
        SELECT count(*) FILTER (WHERE m.status = 'active') AS members,
               count(*) FILTER (WHERE u.made_in_family = m.family_id AND u.created_at > \(moment)) AS made
        FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.family_id = \(family)
        """
    }

    /// A condition: somebody is an active child of a family. `user` is an SQL expression or a value.
    static func isChild(_ user: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = \(user) AND m.status = 'active' AND m.role = 'child')
        """
    }

    /// A condition: somebody is an active member of that family. Both are SQL expressions.
    static func isMember(_ user: SQL, of family: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM memberships m WHERE m.family_id = \(family) AND m.user_id = \(user) AND m.status = 'active')
        """
    }

    /// A condition: somebody is a guardian of a family.
    static func isGuardian(_ user: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = \(user) AND m.status = 'active' AND m.role = 'guardian')
        """
    }

    /// Selects the guardians of an act's family besides some people.
    static func guardiansOfActFamily(besides users: [UserID]) -> SQL {
        """
        SELECT m.family_id, m.user_id FROM ledger_stamp JOIN memberships m ON m.family_id = ledger_stamp.family_id
        WHERE m.status = 'active' AND m.role = 'guardian' AND m.user_id <> ALL(\(SQLList(users)))
        """
    }

    /// A condition: two people are active members of one family. Both are SQL expressions or values.
    static func sharesFamily(_ one: SQL, _ other: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM memberships m JOIN memberships theirs ON theirs.family_id = m.family_id
            WHERE m.user_id = \(one) AND m.status = 'active'
                AND theirs.user_id = \(other) AND theirs.status = 'active')
        """
    }

    /// Reads the active children of the families in which somebody is a guardian.
    /// - Parameter condition: a condition on the membership `k` of a child.
    static func children(ofGuardian guardian: UserID, where condition: SQL) -> SQL {
        """
        SELECT k.user_id, u.display_name, f.id AS family_id, f.name AS family_name
        FROM memberships g
        JOIN families f ON f.id = g.family_id
        JOIN memberships k ON k.family_id = g.family_id AND k.status = 'active' AND k.role = 'child'
        JOIN users u ON u.id = k.user_id
        WHERE g.user_id = \(guardian) AND g.status = 'active' AND g.role = 'guardian' AND \(condition)
        ORDER BY k.joined_at, k.user_id
        """
    }

    /// An expression: the IDs of the active children of the families in which somebody is a guardian, as an array.
    static func childIDs(ofGuardian guardian: UserID) -> SQL {
        """
        ARRAY(SELECT k.user_id FROM memberships g JOIN memberships k ON k.family_id = g.family_id
              WHERE g.user_id = \(guardian) AND g.status = 'active' AND g.role = 'guardian'
                  AND k.status = 'active' AND k.role = 'child')
        """
    }

    /// An expression: the IDs of a family's active members, as an array.
    static func activeMemberIDs(of family: SQL) -> SQL {
        "ARRAY(SELECT m.user_id FROM memberships m WHERE m.family_id = \(family) AND m.status = 'active')"
    }

    /// A condition: somebody is an active child of a family in which somebody else is a guardian. Both are SQL
    /// expressions or values.
    static func isChild(_ user: SQL, ofGuardian guardian: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM memberships k JOIN memberships g ON g.family_id = k.family_id
            WHERE k.user_id = \(user) AND k.status = 'active' AND k.role = 'child'
                AND g.user_id = \(guardian) AND g.status = 'active' AND g.role = 'guardian')
        """
    }

    // MARK: Statements of an act

    /// An expression: the family of the act. Statements that find their rows by the family alone use it, because a plan
    /// that joins `ledger_stamp` instead may read every family's rows.
    static let actFamily: SQL = "(SELECT family_id FROM ledger_stamp)"

    /// Makes somebody a member, or a member again. Somebody in another family violates `one_active_family`.
    static func admit(_ user: UserID, as role: FamilyRole, at now: Timestamp) -> SQL {
        """
        INSERT INTO memberships AS m (family_id, user_id, role, status, joined_at)
        SELECT family_id, \(user), \(role), 'active', \(now) FROM ledger_stamp
        ON CONFLICT (family_id, user_id) DO UPDATE SET
            role = excluded.role, status = 'active', joined_at = excluded.joined_at, removed_at = NULL
        WHERE m.status = 'removed'
        """
    }

    /// Makes an active participant a guardian.
    static func promoteToGuardian(_ user: UserID) -> SQL {
        """
        UPDATE memberships SET role = 'guardian' FROM ledger_stamp
        WHERE memberships.family_id = ledger_stamp.family_id AND memberships.user_id = \(user)
            AND memberships.status = 'active' AND memberships.role = 'participant'
        """
    }

    /// Inserts or reactivates a relationship with every other active member. A suspended relationship stays suspended
    /// after a membership ends: only a guardian's decision reactivates it.
    static func insertRelationships(_ user: UserID, liftingSuspensions: Bool) -> SQL {
        """
        INSERT INTO relationships AS r (family_id, id, party_a, party_b, status)
        SELECT m.family_id, gen_random_uuid(), least(m.user_id, \(user)), greatest(m.user_id, \(user)), 'active'
        FROM memberships m WHERE m.family_id = \(actFamily) AND m.status = 'active' AND m.user_id <> \(user)
        ON CONFLICT (family_id, party_a, party_b) DO UPDATE SET status = 'active'
        WHERE r.status = 'revoked' OR \(liftingSuspensions)
        """
    }

    static func markRemoved(_ user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE memberships SET status = 'removed', removed_at = \(now) FROM ledger_stamp
        WHERE memberships.family_id = ledger_stamp.family_id AND memberships.user_id = \(user)
        """
    }

    /// Revokes the person's active relationships; suspended ones stay suspended.
    static func revokeRelationships(_ user: UserID) -> SQL {
        """
        UPDATE relationships SET status = 'revoked'
        WHERE family_id = \(actFamily) AND \(user) IN (party_a, party_b) AND status = 'active'
        """
    }
}
