import Contract
import Domain
import SQL

/// Every statement on nags, their events and excuses.
enum NagStatements {
    // MARK: Reading

    /// The columns that `NagResponse(_:)` reads, from `n` with `nameJoins`.
    private static let columns: SQL = """
        n.id, n.family_id, n.creator_id, n.recipient_id, cr.display_name AS creator_name,
        re.display_name AS recipient_name, n.due_at, n.category, n.done_definition, n.description, n.strategy_template, n.recurrence, n.parent_nag_id, n.status, n.created_at,
        n.completed_at, n.completion_note, n.committed_at, n.recipient_dismissed_at, n.connection_id,
        \(AttachmentStatements.attachmentIDs) AS attachments, n.source, n.opens_at
        """

    /// Joins the names of a nag's creator and recipient.
    private static let nameJoins: SQL = """
        LEFT JOIN users cr ON cr.id = n.creator_id
        LEFT JOIN users re ON re.id = n.recipient_id
        """

    /// Reads the caller and the nag, as of one moment. The nag's columns are null unless the caller's family, or for
    /// `.connection` any connection, has it. No row: the session has ended.
    static func nag(_ nag: NagID, in ledger: NagLedger, for caller: Caller) -> SQL {
        """
        SELECT \(recordColumns(in: ledger.settingsFamily)), u.status AS account_status, u.pseudonym, m.role,
               \(ledger.guardsRecipient), \(ledger.isAfterCreator)
        FROM users u
        LEFT JOIN memberships m ON m.user_id = u.id AND m.status = 'active'
        \(ledger.join(nag))
        \(ledger.recipientMembershipJoin)
        \(recordJoins(in: ledger.settingsFamily))
        WHERE u.id = \(caller.userID) AND \(caller.sessionCheck)
        """
    }

    /// The columns that `NagRecord(_:)` reads, from `n` with `recordJoins`.
    static func recordColumns(in settingsFamily: SQL) -> SQL {
        """
        \(columns), n.series_due_at, n.slot_due_at, n.phase::bigint AS phase, re.pseudonym AS recipient_pseudonym, c.seq, f.time_zone,
        f.time_zone_changed_at, \(settingsFamily) AS settings_family
        """
    }

    /// Joins the rows that `recordColumns` needs to a nag `n`.
    /// - Parameter settingsFamily: an expression of the enclosing statement. `NagStatements.settingsFamily` needs
    ///   `recipientMembershipJoin` before these joins.
    static func recordJoins(in settingsFamily: SQL) -> SQL {
        """
        LEFT JOIN families f ON f.id = \(settingsFamily)
        LEFT JOIN family_clock c ON c.family_id = n.family_id
        \(nameJoins)
        """
    }

    /// Reads a nag of a ledger, without authorisation.
    static func nag(_ nag: NagID, in family: FamilyID) -> SQL {
        """
        SELECT \(recordColumns(in: settingsFamily))
        FROM nags n
        \(recipientMembershipJoin)
        \(recordJoins(in: settingsFamily))
        WHERE n.family_id = \(family) AND n.id = \(nag)
        """
    }

    /// The nags that a page shows: those of a family, of one connection, or of all connections.
    enum PageScope {
        case family(FamilyID, isGuardian: Bool)
        case connection(ConnectionID)
        case allConnections

        /// Returns the condition on a nag `n` for the nags that the person sees.
        fileprivate func condition(for user: UserID) -> SQL {
            switch self {
            case .family(let family, isGuardian: true): "n.family_id = \(family)"
            case .family(let family, isGuardian: false):
                "n.family_id = \(family) AND (n.creator_id = \(user) OR n.recipient_id = \(user))"
            case .connection(let connection):
                "n.family_id = \(connection) AND n.connection_id IS NOT NULL AND \(isVisible(to: user))"
            case .allConnections: "n.connection_id IS NOT NULL AND \(isVisible(to: user))"
            }
        }

        /// A condition on a nag `n` of a connection: somebody created or receives it, or is a guardian of the child who
        /// receives it.
        private func isVisible(to user: UserID) -> SQL {
            """
            (n.creator_id = \(user) OR n.recipient_id = \(user)
             OR n.recipient_id = ANY(\(MembershipStatements.childIDs(ofGuardian: user))))
            """
        }
    }

    /// Reads a page of the nags that the person sees: the open ones first, and of equal ones the newest first.
    static func page(_ query: NagListQuery, for user: UserID, _ scopes: [PageScope]) -> SQL {
        var filters: [SQL] = []
        if let status = query.status { filters.append("n.status = \(status)") }
        if let category = query.category { filters.append("n.category = \(category)") }
        if query.excludeDismissed {
            filters.append("(n.recipient_id <> \(user) OR n.recipient_dismissed_at IS NULL)")
        }
        let parts = scopes.map { scope -> SQL in
            "SELECT * FROM nags n WHERE \(SQL.joined([scope.condition(for: user)] + filters, separator: " AND "))"
        }
        return query.page.select(
            columns, from: "(\(SQL.joined(parts, separator: " UNION ALL ")))", as: "n", where: "true",
            joining: nameJoins, orderBy: "(n.status = 'open') DESC, n.created_at DESC, n.id DESC")
    }

    // MARK: Statements of an act

    /// Inserts a nag into the family or the connection whose ledger the act is in.
    /// - Parameter nextStep: the time at which the scheduler first reads the nag.
    static func insert(_ nag: NagResponse, policy: PolicyID?, nextStep: Timestamp, source: StoredSource) -> SQL {
        """
        INSERT INTO nags (family_id, connection_id, id, creator_id, recipient_id, due_at, category, done_definition,
                          description, strategy_template, policy_id, recurrence, series_due_at, slot_due_at, opens_at, status, created_at,
                          cycle_started_at, next_step_at, has_attachments, source, sync_seq, sync_ts)
        SELECT family_id, \(nag.connectionID), \(nag.id), \(nag.creatorID), \(nag.recipientID), \(nag.dueAt), \(nag.category),
               \(nag.doneDefinition), \(nag.description), \(nag.strategyTemplate), \(policy), \(nag.recurrence),
               \(nag.recurrence.map { _ in nag.dueAt }), \(nag.recurrence.map { _ in nag.dueAt }), \(nag.opensAt), 'open', \(nag.createdAt), \(nag.createdAt), \(nextStep),
               \(!nag.attachmentURLs.isEmpty), \(source), seq, ts
        FROM ledger_stamp
        """
    }

    /// Appends an event to a nag, with the texts and values that the feed shows.
    /// - Parameter source: the origin of the words; `system` for an event without a person's input.
    static func insertEvent(
        _ type: NagEventType, _ event: EventID, to nag: NagID, from creator: UserID, for recipient: UserID,
        by actor: UserID, at now: Timestamp, _ payload: [String: String] = [:], source: StoredSource
    ) -> SQL {
        """
        INSERT INTO nag_events
            (family_id, id, nag_id, event_type, actor_id, creator_id, recipient_id, at, payload, source, sync_seq,
             sync_ts)
        SELECT family_id, \(event), \(nag), \(type.rawValue), \(actor), \(creator), \(recipient), \(now),
               \(SQLJSON(String(decoding: payload.jsonBytes, as: UTF8.self))), \(source), seq, ts
        FROM ledger_stamp
        """
    }

    /// Stores an edit. A new due time begins a new due cycle, with the escalation from its first phase.
    /// - Parameters:
    ///   - movesSeries: whether the due time is the new pattern of the nag's series.
    ///   - nextStep: the time at which the scheduler next reads the nag; nil keeps the present time.
    static func edit(
        _ nag: NagResponse, movesDueTime: Bool, movesSeries: Bool, nextStep: Timestamp?, at now: Timestamp
    ) -> SQL {
        update(
            nag.id,
            """
            due_at = \(nag.dueAt), opens_at = \(nag.opensAt), category = \(nag.category), done_definition = \(nag.doneDefinition),
            description = \(nag.description),
            committed_at = \(nag.committedAt), next_step_at = coalesce(\(nextStep), next_step_at),
            phase = CASE WHEN \(movesDueTime) THEN 0 ELSE phase END,
            phase_since = CASE WHEN \(movesDueTime) THEN NULL ELSE phase_since END,
            cycle_started_at = CASE WHEN \(movesDueTime) THEN \(now) ELSE cycle_started_at END,
            series_due_at = CASE WHEN \(movesSeries) THEN \(nag.dueAt) ELSE series_due_at END,
            slot_due_at = CASE WHEN \(movesSeries) THEN \(nag.dueAt) ELSE coalesce(slot_due_at, nags.due_at) END
            """)
    }

    /// Stores a snooze: the nag's new due time and opening. Unlike an edit, it leaves the escalation in its phase.
    static func snooze(_ nag: NagResponse, nextStep: Timestamp) -> SQL {
        update(
            nag.id,
            """
            due_at = \(nag.dueAt), opens_at = \(nag.opensAt), next_step_at = \(nextStep),
            slot_due_at = coalesce(slot_due_at, nags.due_at)
            """)
    }

    /// Sets the time from which an instance of a series can be completed; nil for no such time.
    static func setOpening(of nag: NagID, to opensAt: Timestamp?) -> SQL {
        update(nag, "opens_at = \(opensAt)")
    }

    /// Marks a nag as dismissed by its recipient; nil removes the mark.
    static func setDismissed(_ nag: NagID, at moment: Timestamp?) -> SQL {
        update(nag, "recipient_dismissed_at = \(moment)")
    }

    static func markCompleted(_ nag: NagID, note: String?, at now: Timestamp) -> SQL {
        update(
            nag, "status = 'completed', completed_at = \(now), closed_at = \(now), completion_note = \(note)")
    }

    static func markMissed(_ nag: NagID, at now: Timestamp) -> SQL {
        update(nag, "status = 'missed', closed_at = \(now)")
    }

    static func markWithdrawn(_ nag: NagID, at now: Timestamp) -> SQL {
        update(nag, "status = 'withdrawn', closed_at = \(now)")
    }

    /// Changes a nag of the act's ledger.
    /// - Parameter changes: the assignments of the `SET` clause.
    static func update(_ nag: NagID, _ changes: SQL) -> SQL {
        """
        UPDATE nags SET \(changes), sync_seq = ledger_stamp.seq, sync_ts = ledger_stamp.ts
        FROM ledger_stamp WHERE nags.family_id = ledger_stamp.family_id AND nags.id = \(nag)
        """
    }
}

/// The type of an event of a nag. `nag_cancelled` has no case: only `NagStatements.cancelOpenBatch` inserts it, in its
/// SQL.
enum NagEventType: String {
    case created = "nag_created"
    case updated = "nag_updated"
    case snoozed = "nag_snoozed"
    /// The recipient promised to do the task at a time, or changed or withdrew that promise.
    case committed = "nag_committed"
    case completed = "nag_completed"
    case escalated = "nag_escalated"
    case missed = "nag_missed"
    case withdrawn = "nag_withdrawn"
    case dismissed = "nag_dismissed"
    case undismissed = "nag_undismissed"
    case excuseSubmitted = "excuse_submitted"
    case noteAdded = "note_added"
    /// The recipient was sent the text of a push-back.
    case pushBackSent = "push_back_sent"
    /// An earlier input got an enrichment.
    case inputEnriched = "input_enriched"
}
