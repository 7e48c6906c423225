import Contract
import Domain
import SQL

/// Every statement on families.
enum FamilyStatements {
    /// Reads a family's codes and the time of its creation.
    static func codesAndCreationTime(of id: FamilyID) -> SQL {
        "SELECT invite_code, child_code, created_at FROM families WHERE id = \(id)"
    }

    /// Reads the family with that invite code (in upper case), its ledger's `seq`, and whether one of its guardians
    /// blocks the user.
    static func invitation(_ code: String, for user: UserID) -> SQL {
        """
        SELECT f.id, c.seq, EXISTS (
            SELECT 1 FROM memberships g
            WHERE g.family_id = f.id AND g.status = 'active' AND g.role = 'guardian'
                AND \(BlockStatements.hasBlocked("g.user_id", "\(user)"))) AS is_blocked
        FROM families f JOIN family_clock c ON c.family_id = f.id WHERE f.invite_code = \(code)
        """
    }

    /// Returns the statements that insert a family and its clock, before the family's first act.
    static func create(_ family: FamilyResponse) -> [SQL] {
        [
            """
            INSERT INTO families (id, name, invite_code, child_code, time_zone, created_at)
            VALUES (\(family.id), \(family.name), \(family.inviteCode), \(family.childCode), \(family.timeZone),
                    \(family.createdAt))
            """,
            "INSERT INTO family_clock (family_id) VALUES (\(family.id))",
        ]
    }

    // MARK: Statements of an act

    /// Sets the family's name and time zone, and the time of the zone's last change if the zone is another one.
    static func set(name: String, timeZone: String, at now: Timestamp) -> SQL {
        """
        UPDATE families SET name = \(name), time_zone = \(timeZone),
            time_zone_changed_at = CASE WHEN time_zone = \(timeZone) THEN time_zone_changed_at ELSE \(now) END
        FROM ledger_stamp WHERE families.id = ledger_stamp.family_id
        """
    }

    /// Replaces the codes. Nobody can join or sign in with the old ones.
    static func setCodes(invite: String, child: String?) -> SQL {
        "UPDATE families SET invite_code = \(invite), child_code = \(child) FROM ledger_stamp WHERE families.id = ledger_stamp.family_id"
    }
}
