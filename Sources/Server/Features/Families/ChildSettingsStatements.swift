import Contract
import Domain
import SQL

/// Every statement on children's settings (the table `child_settings`).
enum ChildSettingsStatements {
    /// Reads the settings of an active child as one row, with the defaults where nothing was stored.
    static func settings(of child: UserID, in family: FamilyID) -> SQL {
        """
        SELECT coalesce(s.can_snooze, true) AS can_snooze, coalesce(s.max_snoozes_per_day, 3) AS max_snoozes_per_day,
               coalesce(s.can_submit_excuses, true) AS can_submit_excuses, s.quiet_hours_start, s.quiet_hours_end
        FROM memberships m LEFT JOIN child_settings s ON s.family_id = m.family_id AND s.user_id = m.user_id
        WHERE m.family_id = \(family) AND m.user_id = \(child) AND m.status = 'active' AND m.role = 'child'
        """
    }

    // MARK: Statements of an act

    /// Inserts the table's defaults as the settings of a new child. A child who is readmitted keeps their settings.
    static func insertDefaults(for child: UserID) -> SQL {
        "INSERT INTO child_settings (family_id, user_id) SELECT family_id, \(child) FROM ledger_stamp ON CONFLICT DO NOTHING"
    }

    static func set(_ settings: ChildSettingsResponse) -> SQL {
        """
        INSERT INTO child_settings (family_id, user_id, can_snooze, max_snoozes_per_day, can_submit_excuses,
                                    quiet_hours_start, quiet_hours_end)
        SELECT family_id, \(settings.childID), \(settings.canSnooze), \(settings.maxSnoozesPerDay)::integer,
               \(settings.canSubmitExcuses), \(settings.quietHoursStart)::time, \(settings.quietHoursEnd)::time
        FROM ledger_stamp
        ON CONFLICT (family_id, user_id) DO UPDATE SET
            can_snooze = excluded.can_snooze, max_snoozes_per_day = excluded.max_snoozes_per_day,
            can_submit_excuses = excluded.can_submit_excuses, quiet_hours_start = excluded.quiet_hours_start,
            quiet_hours_end = excluded.quiet_hours_end
        """
    }

    /// Deletes a former child's settings in every family that they left or were removed from.
    static func deleteInFormerFamilies(of child: UserID) -> SQL {
        """
        DELETE FROM child_settings k USING ledger_stamp, memberships m
        WHERE m.user_id = \(child) AND m.status = 'removed' AND k.family_id = m.family_id AND k.user_id = m.user_id
        """
    }
}
