import Audit
import Contract
import Domain
import Postgres
import SQL

/// A nag and the family facts that its rules need, as of one moment.
struct NagRecord {
    let nag: NagResponse
    /// The ledger that the nag is in: its family's, or its connection's.
    let familyID: FamilyID
    /// The family whose zone, preferences, child settings and consents count: its own; for a nag of a connection the
    /// recipient's present one, or an id that no family has where they are in none.
    let settingsFamily: FamilyID
    let recipient: Pseudonym?
    let timeZone: String
    /// The time of the last change of the family's zone; nil for never.
    let timeZoneChangedAt: Timestamp?
    /// The family's sequence number at that moment.
    let seq: Int64
    /// The due time that the pattern of the nag's series began with.
    let seriesDueAt: Timestamp?
    /// The due time that the series gave the nag: it may have been moved since.
    let slotDueAt: Timestamp
    /// The last phase that its escalation has reached.
    let phase: EscalationPhase

    /// Reads a nag; nil where the row holds none.
    init?(_ row: Row) throws(PostgresError) {
        guard let nag = try NagResponse(row) else { return nil }
        self.nag = nag
        familyID = row.identifier(1)
        settingsFamily = try row["settings_family"]
        recipient = try row["recipient_pseudonym"]
        timeZone = try row["time_zone"] ?? Preferences.standardTimeZone
        timeZoneChangedAt = try row["time_zone_changed_at"]
        seq = try row["seq"]
        seriesDueAt = try row["series_due_at"]
        slotDueAt = try row["slot_due_at"] ?? nag.dueAt
        guard let phase = EscalationPhase(number: try row["phase"]) else { throw .unexpectedShape("phase") }
        self.phase = phase
    }

    /// An act on this nag.
    func act(
        _ kind: AuditKind, by actor: Pseudonym, details: AuditBody = [:], stampedRows: Int = 1, statements: [SQL]
    ) -> Act {
        Act(
            kind: kind, basis: .nothingChanged(since: seq), actor: actor, subject: recipient,
            resource: nag.id.retyped(),
            details: details, stampedRows: stampedRows, statements: statements)
    }
}

/// A nag as one person sees it, and that person's relation to it.
@dynamicMemberLookup
struct NagView {
    let record: NagRecord
    let part: NagPart
    let userID: UserID
    /// The person's role in their own family; nil for somebody without one, who may have a part in a nag of a
    /// connection.
    let role: FamilyRole?
    let pseudonym: Pseudonym

    /// - Throws: 401 when the session has ended, 403 while the account waits, 404 unless the nag is of the caller's
    ///   family, or of a connection and the caller has a part in it.
    init(_ rows: Rows, for caller: Caller) throws {
        guard let row = rows.first else { throw APIError.sessionHasEnded }
        try Access.requireActive(status: try row["account_status"])
        guard let record = try NagRecord(row) else { throw APIError.noSuchNag }
        self.record = record
        userID = caller.userID
        role = try row["role"]
        pseudonym = try row["pseudonym"]
        part = try NagPart(row, for: caller, record.nag.creatorID, record.nag.recipientID)
        if record.nag.connectionID != nil, part.isEmpty { throw APIError.noSuchNag }
    }

    subscript<Value>(dynamicMember path: KeyPath<NagRecord, Value>) -> Value { record[keyPath: path] }

    /// An act of this member on this nag.
    func act(_ kind: AuditKind, details: AuditBody = [:], stampedRows: Int = 1, statements: [SQL]) -> Act {
        record.act(kind, by: pseudonym, details: details, stampedRows: stampedRows, statements: statements)
    }

    /// Refuses an act on the nag and records that in the audit log.
    func refuse<Answer>(
        _ act: NagAct, _ denial: Denial, _ code: ErrorCode = .authorizationDenied
    ) -> Decision<Answer> {
        refuse(act, reason: denial.rawValue, APIError(code, denial))
    }

    /// Refuses what a daily limit allows no more, and says when it allows more.
    func refuse<Answer>(_ act: NagAct, limit denial: Denial, at now: Timestamp) -> Decision<Answer> {
        let next = NagLimit.nextDay(in: record.timeZone, now: now, zoneChangedAt: record.timeZoneChangedAt)
        return refuse(act, reason: denial.rawValue, .nagLimitIsReached(denial, next: next))
    }

    func refuse<Answer>(_ act: NagAct, reason: String, _ error: APIError) -> Decision<Answer> {
        var error = error
        error.reason = error.reason ?? reason
        return .refuse(
            self.act(act.deniedKind, details: ["reason": reason], stampedRows: 0, statements: []), error)
    }
}

extension NagPart {
    /// Reads the columns `connection_id`, `role` and `guards_recipient`. In a family's nag only its members have a part.
    init(_ row: Row, for caller: Caller, _ creator: UserID, _ recipient: UserID) throws(PostgresError) {
        let connection: ConnectionID? = try row["connection_id"]
        if connection != nil {
            self.init(
                of: caller.userID, guardsRecipient: try row["guards_recipient"], creator: creator, recipient: recipient)
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
        case .updateStatus: .nagUpdateStatusDenied
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
    /// Reads the columns of `NagStatements`; nil where the row holds no nag.
    init?(_ row: Row) throws(PostgresError) {
        if row.isNull(0) { return nil }
        func word<Value: RawRepresentable>(_ column: Int) throws(PostgresError) -> Value
        where Value.RawValue == String {
            guard let value = row.text(column).flatMap(Value.init) else { throw .unexpectedShape("nag \(column)") }
            return value
        }
        let connection: ConnectionID? = row.isNull(18) ? nil : row.identifier(18)
        self.init(
            id: row.identifier(0), familyID: connection == nil ? row.identifier(1) : nil, connectionID: connection,
            creatorID: row.identifier(2),
            recipientID: row.identifier(3), creatorDisplayName: row.text(4), recipientDisplayName: row.text(5),
            dueAt: row.timestamp(6), category: try word(7), doneDefinition: try word(8), description: row.text(9),
            strategyTemplate: try word(10), recurrence: row.isNull(11) ? nil : try word(11),
            parentNagID: row.isNull(12) ? nil : row.identifier(12), status: try word(13), createdAt: row.timestamp(14),
            completedAt: row.optionalTimestamp(15), committedAt: row.optionalTimestamp(16),
            recipientDismissedAt: row.optionalTimestamp(17),
            attachmentURLs: try AttachmentStatements.urls(row.text(19)),
            source: try word(20))
        opensAt = row.optionalTimestamp(21)
    }
}
