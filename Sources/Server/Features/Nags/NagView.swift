import Audit
import Contract
import Domain
import Postgres
import SQL

/// A nag and the family facts that its rules need, as of one moment.
struct NagRecord {
    let nag: NagResponse
    /// The ledger that the nag is in: its family's, or its connection's.
    let ledgerID: FamilyID
    /// The family whose zone, preferences, child settings and consents count. It is the nag's own family. For a nag of
    /// a connection it is the recipient's present family, or an ID that no family has if they are in none.
    let settingsFamily: FamilyID
    /// The recipient's pseudonym in the audit log; nil after their erasure.
    let recipientPseudonym: Pseudonym?
    /// The name of the time zone of `settingsFamily`; the standard zone if no family has that ID.
    let timeZone: String
    /// The time of the last change of that family's zone; nil for never.
    let timeZoneChangedAt: Timestamp?
    /// The ledger's sequence number when the nag was read.
    let seq: Int64
    /// The due time at which the pattern of the nag's series begins; nil without a series.
    let seriesDueAt: Timestamp?
    /// The due time that the series gave the nag. A person may have changed the nag's due time since.
    let slotDueAt: Timestamp
    /// The last phase that its escalation has reached.
    let phase: EscalationPhase

    /// Reads a nag; nil if the row has none.
    init?(_ row: Row) throws(PostgresError) {
        guard let nag = try NagResponse(row) else { return nil }
        self.nag = nag
        ledgerID = try row["family_id"]
        settingsFamily = try row["settings_family"]
        recipientPseudonym = try row["recipient_pseudonym"]
        timeZone = try row["time_zone"] ?? Preferences.standardTimeZone
        timeZoneChangedAt = try row["time_zone_changed_at"]
        seq = try row["seq"]
        seriesDueAt = try row["series_due_at"]
        slotDueAt = try row["slot_due_at"] ?? nag.dueAt
        guard let phase = EscalationPhase(number: try row["phase"]) else { throw .unexpectedShape("phase") }
        self.phase = phase
    }

    /// Returns an act on this nag. It requires that nothing in the ledger has changed since the nag was read.
    func act(
        _ kind: AuditKind, by actor: Pseudonym, details: AuditBody = [:], stampedRows: Int = 1, statements: [SQL]
    ) -> Act {
        Act(
            kind: kind, basis: .nothingChanged(since: seq), actor: actor, subject: recipientPseudonym,
            resource: nag.id.retyped(),
            details: details, stampedRows: stampedRows, statements: statements)
    }
}

/// A nag, with the person who reads or changes it and that person's part in it.
@dynamicMemberLookup
struct NagView {
    let record: NagRecord
    let part: NagPart
    let userID: UserID
    /// The person's role in their own family; nil for somebody without one, who may have a part in a nag of a
    /// connection.
    let role: FamilyRole?
    let pseudonym: Pseudonym

    /// Reads the result of `NagStatements.nag(_:in:for:)`.
    /// - Throws: 401 when the session has ended, 403 while the account waits for a guardian, 404 unless the nag is of
    ///   the caller's family, or of a connection and the caller has a part in it.
    init(_ rows: Rows, for caller: Caller) throws {
        guard let row = rows.first else { throw APIError.sessionHasEnded }
        try Access.requireActive(status: try row["account_status"])
        guard let record = try NagRecord(row) else { throw APIError.noSuchNag }
        self.record = record
        userID = caller.userID
        role = try row["role"]
        pseudonym = try row["pseudonym"]
        var part = try NagPart(row, for: caller, record.nag.creatorID, record.nag.recipientID)
        if record.nag.connectionID != nil, part.isEmpty { throw APIError.noSuchNag }
        if try row["is_after_creator"] { part.insert(.guardianAfterCreator) }
        self.part = part
    }

    subscript<Value>(dynamicMember path: KeyPath<NagRecord, Value>) -> Value { record[keyPath: path] }

    /// Returns an act of this person on this nag.
    func act(_ kind: AuditKind, details: AuditBody = [:], stampedRows: Int = 1, statements: [SQL]) -> Act {
        record.act(kind, by: pseudonym, details: details, stampedRows: stampedRows, statements: statements)
    }

    /// Returns a decision that refuses an act on the nag, with an entry in the audit log.
    func refuse<Answer>(
        _ act: NagAct, _ denial: Denial, _ code: ErrorCode = .authorizationDenied
    ) -> Decision<Answer> {
        refuse(act, reason: denial.rawValue, APIError(code, denial))
    }

    /// Returns a decision that refuses an act beyond a daily limit. The error says when the act is allowed again.
    func refuse<Answer>(_ act: NagAct, limit denial: Denial, at now: Timestamp) -> Decision<Answer> {
        let next = NagLimit.resetSentence(in: record.timeZone, now: now, zoneChangedAt: record.timeZoneChangedAt)
        return refuse(act, reason: denial.rawValue, .nagLimitIsReached(denial, resetSentence: next))
    }

    /// Returns a decision that refuses an act with any error. The audit entry has the reason, and so has the error if
    /// it has none of its own.
    func refuse<Answer>(_ act: NagAct, reason: String, _ error: APIError) -> Decision<Answer> {
        var error = error
        error.reason = error.reason ?? reason
        return .refuse(
            self.act(act.deniedKind, details: ["reason": reason], stampedRows: 0, statements: []), error)
    }
}

extension NagPart {
    /// Reads the columns `connection_id`, `role` and `guards_recipient`. In a family's nag only its members have a
    /// part.
    init(_ row: Row, for caller: Caller, _ creator: UserID, _ recipient: UserID) throws(PostgresError) {
        let connection: ConnectionID? = try row["connection_id"]
        if connection != nil {
            self.init(
                of: caller.userID, isGuardianOfRecipient: try row["guards_recipient"], creator: creator,
                recipient: recipient)
        } else if let role: FamilyRole = try row["role"] {
            self.init(of: caller.userID, role, creator: creator, recipient: recipient)
        } else {
            self = []
        }
    }
}

extension NagAct {
    /// The kind of the audit entry of a refusal.
    var deniedKind: AuditKind {
        switch self {
        case .read: .nagReadDenied
        case .edit: .nagEditDenied
        case .withdraw: .nagWithdrawDenied
        case .complete: .nagUpdateStatusDenied
        case .snooze: .nagSnoozeDenied
        case .dismiss: .nagDismissDenied
        case .commit: .nagCommitDenied
        case .submitExcuse: .nagSubmitExcuseDenied
        case .readExcuses: .nagReadExcusesDenied
        case .readDeliveries: .nagReadDeliveriesDenied
        case .addNote: .nagAddNoteDenied
        case .askForPushBack: .aiPushBackDenied
        }
    }
}

extension NagResponse {
    /// Reads the columns of `NagStatements`; nil if the row has no nag.
    init?(_ row: Row) throws(PostgresError) {
        guard let id: NagID = try row["id"] else { return nil }
        let (family, connection): (FamilyID, ConnectionID?) = (try row["family_id"], try row["connection_id"])
        let attachments: [AttachmentID] = try row.list("attachments") ?? []
        self.init(
            id: id, familyID: connection == nil ? family : nil, connectionID: connection,
            creatorID: try row["creator_id"], recipientID: try row["recipient_id"],
            creatorDisplayName: try row["creator_name"], recipientDisplayName: try row["recipient_name"],
            dueAt: try row["due_at"], category: try row["category"], doneDefinition: try row["done_definition"],
            description: try row["description"], strategyTemplate: try row["strategy_template"],
            recurrence: try row["recurrence"], opensAt: try row["opens_at"], parentNagID: try row["parent_nag_id"],
            status: try row["status"], createdAt: try row["created_at"], completedAt: try row["completed_at"],
            completionNote: try row["completion_note"], committedAt: try row["committed_at"],
            recipientDismissedAt: try row["recipient_dismissed_at"],
            attachmentURLs: attachments.map(AttachmentURL.init), source: try row["source"])
    }
}
