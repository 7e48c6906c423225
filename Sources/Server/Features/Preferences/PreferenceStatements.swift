import Domain
import JSON
import SQL

/// Every statement on preferences.
enum PreferenceStatements {
    /// An expression for statements of other features: a member's stored preferences, or null. It is read as
    /// `StoredPreferences`.
    ///
    /// `user` and `family` are expressions of the enclosing statement, qualified with their table's name, or values.
    static func preferences(of user: SQL, in family: SQL) -> SQL {
        """
        (SELECT preferences.prefs FROM preferences
         WHERE preferences.family_id = \(family) AND preferences.user_id = \(user))
        """
    }

    /// The columns of the row `k` for the quiet hours that guardians have set for a child. They are read as
    /// `QuietHours`.
    static let childQuietHoursColumns: SQL =
        "k.quiet_hours_start AS child_quiet_start, k.quiet_hours_end AS child_quiet_end"

    /// Reads an active member's pseudonym, stored preferences, and the sequence number and time of their last change: 0
    /// and the time of joining if nothing was ever set.
    static func current(of user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT u.pseudonym, p.prefs, coalesce(p.changed_by, 0) AS changed_by,
               coalesce(p.updated_at, m.joined_at) AS updated_at
        FROM memberships m JOIN users u ON u.id = m.user_id
        LEFT JOIN preferences p ON p.family_id = m.family_id AND p.user_id = m.user_id
        WHERE m.family_id = \(family) AND m.user_id = \(user) AND m.status = 'active'
        """
    }

    /// Part of an act: deletes a person's preferences in all families that they have left.
    static func deleteInLeftFamilies(of user: UserID) -> SQL {
        """
        DELETE FROM preferences p USING ledger_stamp, memberships m
        WHERE m.user_id = \(user) AND m.status = 'removed' AND p.family_id = m.family_id AND p.user_id = m.user_id
        """
    }

    /// Part of an act: stores a member's preferences. The scheduler then recomputes at once when the next daily digest
    /// is due.
    /// - Parameters:
    ///   - hasDigest: whether the person wants daily digests.
    ///   - skippedDate: a date, in the person's zone, for which no digest is needed; nil for none.
    static func store(
        _ preferences: StoredPreferences, of user: UserID, hasDigest: Bool, skippedDate: CivilDate?, at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO preferences (family_id, user_id, prefs, changed_by, updated_at, next_digest_at, last_digest_on)
        SELECT family_id, \(user), \(SQLJSON(JSONValue.object(preferences.document).description)), seq, \(now),
               \(hasDigest ? now : nil), \(skippedDate?.description)::date FROM ledger_stamp
        ON CONFLICT (family_id, user_id) DO UPDATE SET
            prefs = excluded.prefs, changed_by = excluded.changed_by, updated_at = excluded.updated_at,
            next_digest_at = excluded.next_digest_at,
            last_digest_on = greatest(preferences.last_digest_on, excluded.last_digest_on)
        """
    }
}
