import Contract
import Domain
import SQL

/// Statements of the scheduler, and of changes that move a nag's next step.
extension NagStatements {
    /// The maximum number of due nags that a round of the scheduler considers.
    static let dueLimitPerRound = 1_000
    /// The maximum number of due nags that a round of the scheduler takes from one family.
    static let dueLimitPerFamily = 16

    /// Reads a nag with everything that its escalation depends on.
    static func escalation(of nag: NagID, in family: FamilyID) -> SQL {
        """
        SELECT \(recordColumns(in: settingsFamily)), n.cycle_started_at, n.phase_since, n.next_step_at,
               \(PreferenceStatements.preferences(of: "n.recipient_id", in: settingsFamily)) AS recipient_prefs,
               \(PreferenceStatements.preferences(of: "n.creator_id", in: "cm.family_id")) AS creator_prefs,
               \(PreferenceStatements.childQuietHoursColumns),
               \(ConsentStatements.isInForce(.smsOptIn, user: "n.recipient_id", family: settingsFamily))
                   AS recipient_may_text,
               \(ConsentStatements.isInForce(.smsOptIn, user: "n.creator_id", family: "cm.family_id"))
                   AS creator_may_text,
               coalesce(cm.status = 'active', n.connection_id IS NOT NULL) AS is_creator_active
        FROM nags n
        \(recipientMembershipJoin)
        \(recordJoins(in: settingsFamily))
        LEFT JOIN memberships cm ON cm.user_id = n.creator_id
            AND (cm.family_id = n.family_id OR n.connection_id IS NOT NULL AND cm.status = 'active')
        LEFT JOIN child_settings k ON k.family_id = \(settingsFamily) AND k.user_id = n.recipient_id
        WHERE n.family_id = \(family) AND n.id = \(nag)
        """
    }

    /// Reads the nags whose steps have been due longest, at most `dueLimitPerFamily` of each family and none of
    /// `families`: `family_id`, `id`, `next_step_at`, the `ordinal` within the family, and as `seen` the number of due
    /// nags that were considered. The cost does not grow with the nags that are due later.
    static func dueNags(at now: Timestamp, besides families: [FamilyID]) -> SQL {
        """
        SELECT family_id, id, next_step_at, ordinal, seen FROM (
            SELECT w.*, row_number() OVER (PARTITION BY family_id ORDER BY next_step_at, id) AS ordinal,
                   count(*) OVER () AS seen
            FROM (
                SELECT family_id, id, next_step_at FROM nags
                WHERE status = 'open' AND next_step_at <= \(now) AND family_id <> ALL(\(SQLList(families)))
                ORDER BY next_step_at, family_id, id LIMIT \(dueLimitPerRound)
            ) w
        ) x
        WHERE ordinal <= \(dueLimitPerFamily) ORDER BY next_step_at, family_id, id
        """
    }

    /// Reads the nag that has been due longest, and since when, as `next_step_at`; no row if none is due.
    static func oldestDue(at now: Timestamp) -> SQL {
        """
        SELECT family_id, id, next_step_at FROM nags WHERE status = 'open' AND next_step_at <= \(now)
        ORDER BY next_step_at, family_id, id LIMIT 1
        """
    }

    /// Reads the time since which the longest-due nag has been due, as `since`; null when none is due. Nags with the
    /// time 0 have not been scheduled yet: they count as due from `now`, so that they hide no other nag.
    static func dueSince(at now: Timestamp) -> SQL {
        """
        SELECT coalesce(
            (SELECT next_step_at FROM nags
             WHERE status = 'open' AND next_step_at > \(Timestamp.epoch) AND next_step_at <= \(now)
             ORDER BY next_step_at, family_id, id LIMIT 1),
            (SELECT \(now) FROM nags WHERE status = 'open' AND next_step_at <= \(Timestamp.epoch)
             ORDER BY next_step_at, family_id, id LIMIT 1)) AS since
        """
    }

    /// Moves a nag's `next_step_at`, unless anything in its ledger has changed. It locks the ledger's row against acts,
    /// and takes no sequence number.
    static func reschedule(_ record: NagRecord, to moment: Timestamp) -> SQL {
        """
        WITH unchanged AS MATERIALIZED (
            SELECT family_id FROM family_clock WHERE family_id = \(record.ledgerID) AND seq = \(record.seq) FOR SHARE
        )
        UPDATE nags SET next_step_at = \(moment) FROM unchanged
        WHERE nags.family_id = unchanged.family_id AND nags.id = \(record.nag.id) AND nags.status = 'open'
        """
    }

    /// Makes the open ones among the next 500 nags after `last` due for the scheduler. The row names the last of these
    /// nags; no row if there are no more nags.
    static func makePageDue(after last: (family: FamilyID, nag: NagID), at now: Timestamp) -> SQL {
        """
        WITH page AS MATERIALIZED (
            SELECT family_id, id FROM nags WHERE (family_id, id) > (\(last.family), \(last.nag))
            ORDER BY family_id, id LIMIT 500
        ), held AS MATERIALIZED (
            SELECT family_id FROM family_clock WHERE family_id IN (SELECT family_id FROM page)
            ORDER BY family_id FOR SHARE
        ), marked AS (
            UPDATE nags SET next_step_at = least(nags.next_step_at, \(now)) FROM page, held
            WHERE held.family_id = page.family_id AND nags.family_id = page.family_id AND nags.id = page.id
                AND nags.status = 'open'
        )
        SELECT family_id, id FROM page ORDER BY family_id DESC, id DESC LIMIT 1
        """
    }

    // MARK: Statements of an act

    static func setPhase(_ nag: NagID, to phase: EscalationPhase, nextStep: Timestamp, at now: Timestamp) -> SQL {
        update(nag, "phase = \(phase.number), phase_since = \(now), next_step_at = \(nextStep)")
    }

    /// Makes a member's open nags due for the scheduler, because their steps may be earlier now.
    static func makeDue(of recipient: UserID, at now: Timestamp) -> [SQL] {
        [
            "\(makeDueInFamily(at: now)) AND nags.recipient_id = \(recipient)",
            "\(makeDueOverConnections(at: now)) AND nags.recipient_id = \(recipient)",
        ]
    }

    /// Makes the open nags of all members of the act's family due for the scheduler.
    static func makeMemberNagsDue(at now: Timestamp) -> [SQL] {
        let members = MembershipStatements.activeMemberIDs(of: MembershipStatements.actFamily)
        return [
            makeDueInFamily(at: now), "\(makeDueOverConnections(at: now)) AND nags.recipient_id = ANY(\(members))",
        ]
    }

    /// Makes the open nags of the act's family due for the scheduler. The caller may append further conditions.
    private static func makeDueInFamily(at now: Timestamp) -> SQL {
        """
        UPDATE nags SET next_step_at = least(nags.next_step_at, \(now)) FROM ledger_stamp
        WHERE nags.family_id = ledger_stamp.family_id AND nags.status = 'open'
        """
    }

    /// Makes open nags of connections due for the scheduler. The caller MUST append a condition on the recipient:
    /// without it, the statement changes the nags of all connections.
    private static func makeDueOverConnections(at now: Timestamp) -> SQL {
        """
        UPDATE nags SET next_step_at = least(nags.next_step_at, \(now)) FROM ledger_stamp
        WHERE nags.connection_id IS NOT NULL AND nags.status = 'open'
        """
    }
}
