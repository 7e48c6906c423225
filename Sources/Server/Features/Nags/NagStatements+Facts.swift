import Contract
import Domain
import SQL

extension NagStatements {
    /// Reads an open nag that the creator created within the last two seconds in a family or connection, with the same
    /// recipient, due time, category, done definition, description and recurrence, and without attachments.
    static func recentDuplicate(of request: NagCreate, in ledger: FamilyID, by creator: UserID, at now: Timestamp)
        -> SQL
    {
        """
        SELECT n.id FROM nags n
        WHERE n.family_id = \(ledger) AND n.creator_id = \(creator)
            AND n.created_at > \(now - .seconds(2)) AND n.created_at <= \(now)
            AND n.recipient_id = \(request.recipientID) AND n.due_at = \(request.dueAt.flooredToMillisecond)
            AND n.category = \(request.category) AND n.done_definition = \(request.doneDefinition)
            AND n.description IS NOT DISTINCT FROM \(request.description)
            AND n.recurrence IS NOT DISTINCT FROM \(request.recurrence)
            AND n.parent_nag_id IS NULL AND n.status = 'open' AND NOT n.has_attachments
        ORDER BY n.created_at, n.id LIMIT 1
        """
    }

    /// Reads the recipient of a new nag, their relationship with its creator, the family's default policy, whether
    /// `policy` is one of its active policies, and the number of nags that the creator sent on the family's local day.
    /// No row: the recipient or the creator never belonged to the family.
    ///
    /// Nags that a series creates are not counted.
    static func creationFacts(
        for recipient: UserID, from creator: UserID, in family: FamilyID, policy: PolicyID?, day: Range<Timestamp>
    ) -> SQL {
        """
        SELECT u.display_name, u.pseudonym, \(memberStateColumns(creator: "\(creator)")), \(policyColumns),
               \(policy)::uuid IS NULL OR EXISTS (SELECT 1 FROM policies WHERE family_id = m.family_id
                   AND id = \(policy) AND status = 'active') AS is_policy_known,
               (SELECT count(*) FROM nags WHERE family_id = m.family_id AND creator_id = \(creator)
                   AND created_at >= \(day.lowerBound) AND created_at < \(day.upperBound)
                   AND parent_nag_id IS NULL) AS sent_today
        FROM memberships m JOIN users u ON u.id = m.user_id
        \(memberStateJoins(creator: "\(creator)"))
        \(policyJoin)
        WHERE m.family_id = \(family) AND m.user_id = \(recipient)
        """
    }

    /// Reads the present relationship of a nag's creator and recipient, whether the next nag of its series exists, and
    /// whether the nag before this one is still open.
    static func seriesFacts(after nag: NagID, in family: FamilyID) -> SQL {
        """
        SELECT \(memberStateColumns(creator: "n.creator_id")),
               EXISTS (SELECT 1 FROM nags s WHERE s.family_id = n.family_id AND s.parent_nag_id = n.id) AS has_successor,
               EXISTS (SELECT 1 FROM nags s WHERE s.family_id = n.family_id AND s.id = n.parent_nag_id
                   AND s.status = 'open') AS is_parent_open
        FROM nags n
        JOIN memberships m ON m.family_id = n.family_id AND m.user_id = n.recipient_id
        \(memberStateJoins(creator: "n.creator_id"))
        WHERE n.family_id = \(family) AND n.id = \(nag)
        """
    }

    /// Reads the instances before and after a nag of a series: the present due time of the previous one, and as
    /// `previous_slot` the due time that the series gave it; whether there is a next one, its due time, and its ID if
    /// it is open.
    static func adjacentInstances(of nag: NagID, in ledger: FamilyID) -> SQL {
        """
        SELECT p.due_at AS previous_due_at, coalesce(p.slot_due_at, p.due_at) AS previous_slot,
               s.id IS NOT NULL AS has_next, CASE WHEN s.status = 'open' THEN s.id END AS next_id,
               s.due_at AS next_due_at
        FROM nags n
        LEFT JOIN nags p ON p.family_id = n.family_id AND p.id = n.parent_nag_id
        LEFT JOIN nags s ON s.family_id = n.family_id AND s.parent_nag_id = n.id
        WHERE n.family_id = \(ledger) AND n.id = \(nag)
        """
    }

    /// Part of an act: inserts the next instance of a series.
    static func insertSuccessor(
        _ successor: NagID, of nag: NagID, dueAt: Timestamp, opensAt: Timestamp?, nextStep: Timestamp,
        at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO nags (family_id, connection_id, id, creator_id, recipient_id, due_at, category, done_definition,
                          description, strategy_template, policy_id, recurrence, parent_nag_id, series_due_at, slot_due_at,
                          opens_at, status, created_at, cycle_started_at, next_step_at, source, sync_seq, sync_ts)
        SELECT n.family_id, n.connection_id, \(successor), n.creator_id, n.recipient_id, \(dueAt), n.category, n.done_definition,
               n.description, n.strategy_template, n.policy_id, n.recurrence, n.id, n.series_due_at, \(dueAt), \(opensAt), 'open', \(now),
               \(now), \(nextStep), \(StoredSource.system), ledger_stamp.seq, ledger_stamp.ts
        FROM ledger_stamp JOIN nags n ON n.family_id = ledger_stamp.family_id AND n.id = \(nag)
        """
    }

    /// Reads the limits of a recipient's snoozes: the policy of the family whose settings count, a child's settings,
    /// and the number of snoozes today in that family and of all nags of connections.
    static func snoozeFacts(_ recipient: UserID, settings: FamilyID, day: Range<Timestamp>) -> SQL {
        """
        SELECT \(policyColumns), coalesce(k.can_snooze, true) AS can_snooze,
               coalesce(k.max_snoozes_per_day, 3) AS snoozes_per_day,
               (SELECT count(*) FROM nag_events e WHERE e.family_id = ANY(ARRAY(
                       SELECT \(settings)::uuid UNION SELECT n.family_id FROM nags n
                       WHERE n.connection_id IS NOT NULL AND n.recipient_id = \(recipient)))
                   AND e.actor_id = \(recipient) AND e.event_type = 'nag_snoozed'
                   AND e.at >= \(day.lowerBound) AND e.at < \(day.upperBound)) AS snoozed_today
        FROM (SELECT) one
        LEFT JOIN memberships m ON m.family_id = \(settings) AND m.user_id = \(recipient)
        LEFT JOIN child_settings k ON k.family_id = m.family_id AND k.user_id = m.user_id
        \(policyJoin)
        """
    }

    /// Reads a member's relationship with each of the others in the family, and whether one of the two blocks the
    /// other: a row for each person.
    static func contactFacts(of user: UserID, with others: [UserID], in family: FamilyID) -> SQL {
        """
        SELECT \(RelationshipStatements.status(between: "\(user)", and: "o.id", in: "\(family)")) AS relationship,
               \(BlockStatements.isBlocked(between: "\(user)", and: "o.id")) AS is_blocked
        FROM unnest(\(SQLList(others))::uuid[]) o (id)
        """
    }

    /// Selects those of the `ids` that name nags, events or excuses which the member may read in the family.
    static func visibleRows(_ ids: [ResourceID], to user: UserID, isGuardian: Bool, in family: FamilyID) -> SQL {
        let isReadable = isVisible(to: user, isGuardian: isGuardian)
        return """
            SELECT n.id FROM nags n
            WHERE n.family_id = \(family) AND n.id = ANY(\(SQLList(ids))) AND n.connection_id IS NULL AND \(isReadable)
            UNION
            SELECT e.id FROM nag_events e JOIN nags n ON n.family_id = e.family_id AND n.id = e.nag_id
            WHERE e.family_id = \(family) AND e.id = ANY(\(SQLList(ids))) AND n.connection_id IS NULL AND \(isReadable)
            UNION
            SELECT x.id FROM excuses x JOIN nags n ON n.family_id = x.family_id AND n.id = x.nag_id
            WHERE x.family_id = \(family) AND x.id = ANY(\(SQLList(ids))) AND n.connection_id IS NULL
                AND (\(isGuardian) OR n.creator_id = \(user) OR x.author_id = \(user))
            """
    }

    /// A condition on a nag `n` of a family: a member may read it.
    static func isVisible(to user: UserID, isGuardian: Bool) -> SQL {
        isGuardian ? "true" : "(n.creator_id = \(user) OR n.recipient_id = \(user))"
    }

    /// Counts the notes that somebody added on the family's local day.
    static func countNotes(by author: UserID, in family: FamilyID, day: Range<Timestamp>) -> SQL {
        countEvents(where: "event_type = 'note_added'", by: author, in: family, day: day)
    }

    /// Counts the changes to nags that somebody made on the family's local day.
    static func countChanges(by actor: UserID, in family: FamilyID, day: Range<Timestamp>) -> SQL {
        // The same types as in the index `changes_of_actor`.
        countEvents(
            where: "event_type IN ('nag_updated', 'nag_snoozed', 'nag_committed', 'nag_dismissed', 'nag_undismissed')",
            by: actor, in: family, day: day)
    }

    /// Counts the nags that somebody completed on the family's local day.
    static func countCompletions(by actor: UserID, in family: FamilyID, day: Range<Timestamp>) -> SQL {
        countEvents(where: "event_type = 'nag_completed'", by: actor, in: family, day: day)
    }

    /// Counts the events of an actor on a day.
    /// - Parameter isCounted: the condition on the type of the event. It consists of literals, so that the planner can
    ///   choose a partial index.
    private static func countEvents(
        where isCounted: SQL, by actor: UserID, in family: FamilyID, day: Range<Timestamp>
    ) -> SQL {
        """
        SELECT count(*) AS count FROM nag_events
        WHERE family_id = \(family) AND actor_id = \(actor) AND \(isCounted)
            AND at >= \(day.lowerBound) AND at < \(day.upperBound)
        """
    }

    // MARK: Parts

    /// The columns that decide whether a creator may nag the member `m`.
    private static func memberStateColumns(creator: SQL) -> SQL {
        """
        m.role AS recipient_role, m.status AS recipient_membership, cm.role AS creator_role,
        cm.status AS creator_membership,
        \(RelationshipStatements.status(between: creator, and: "m.user_id", in: "m.family_id")) AS relationship,
        \(BlockStatements.isBlocked(between: creator, and: "m.user_id")) AS is_blocked
        """
    }

    private static func memberStateJoins(creator: SQL) -> SQL {
        "JOIN memberships cm ON cm.family_id = m.family_id AND cm.user_id = \(creator)"
    }

    private static let policyColumns: SQL =
        "o.daily_cap, o.max_snooze_minutes, o.points_multiplier, o.max_pushback, o.cooldown_minutes, o.third_party_models"

    private static let policyJoin: SQL =
        "LEFT JOIN policies o ON o.family_id = m.family_id AND o.is_default AND o.status = 'active'"
}
