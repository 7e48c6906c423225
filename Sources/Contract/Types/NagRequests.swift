import Domain
import JSON

/// Creates a nag within a family or over a connection.
public struct NagCreate: Hashable, WireObject {
    public var familyID: FamilyID?
    public var connectionID: ConnectionID?
    public var recipientID: UserID
    public var dueAt: Timestamp
    public var category: NagCategory
    public var doneDefinition: DoneDefinition
    public var description: String?
    public var strategyTemplate: StrategyTemplate
    public var policyID: PolicyID?
    public var recurrence: Recurrence?
    /// Pictures that the creator uploaded for it, in the order in which they are shown.
    public var attachmentIDs: [AttachmentID]
    public var capture: Capture

    public init(
        familyID: FamilyID? = nil, connectionID: ConnectionID? = nil, recipientID: UserID, dueAt: Timestamp,
        category: NagCategory, doneDefinition: DoneDefinition, description: String? = nil,
        strategyTemplate: StrategyTemplate = .friendlyReminder, policyID: PolicyID? = nil,
        recurrence: Recurrence? = nil,
        attachmentIDs: [AttachmentID] = [], capture: Capture = .keyboard
    ) {
        self.familyID = familyID
        self.connectionID = connectionID
        self.recipientID = recipientID
        self.dueAt = dueAt
        self.category = category
        self.doneDefinition = doneDefinition
        self.description = description
        self.strategyTemplate = strategyTemplate
        self.policyID = policyID
        self.recurrence = recurrence
        self.attachmentIDs = attachmentIDs
        self.capture = capture
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.optional("family_id")
        connectionID = try fields.optional("connection_id")
        recipientID = try fields.required("recipient_id")
        dueAt = try fields.required("due_at")
        category = try fields.required("category")
        doneDefinition = try fields.required("done_definition")
        description = try fields.optionalText("description", 0...2000)
        strategyTemplate = try fields.defaulted("strategy_template", to: .friendlyReminder)
        policyID = try fields.optional("policy_id")
        recurrence = try fields.optional("recurrence")
        attachmentIDs = try fields.optional("attachment_ids") ?? []
        capture = try Capture(fields)
        guard attachmentIDs.count <= AttachmentLimit.perNag else {
            throw InvalidInput("must have at most \(AttachmentLimit.perNag) elements", field: "attachment_ids")
        }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("family_id", familyID)
            json.fieldIfPresent("connection_id", connectionID)
            json.field("recipient_id", recipientID)
            json.field("due_at", dueAt)
            json.field("category", category)
            json.field("done_definition", doneDefinition)
            json.fieldIfPresent("description", description)
            json.field("strategy_template", strategyTemplate)
            json.fieldIfPresent("policy_id", policyID)
            json.fieldIfPresent("recurrence", recurrence)
            json.field("attachment_ids", attachmentIDs)
            capture.writeFields(to: &json)
        }
    }
}

/// Changes an open nag. A recipient may send only `due_at` (snooze) or only `committed_at`.
public struct NagUpdate: Hashable, WireObject {
    public var dueAt: Timestamp?
    /// Whether a new due time is one instance's or the series'.
    public var scope: MoveScope
    public var category: NagCategory?
    public var doneDefinition: DoneDefinition?
    /// Null removes it.
    public var description: Patch<String>
    /// Null withdraws the commitment.
    public var committedAt: Patch<Timestamp>
    public var capture: Capture

    public init(
        dueAt: Timestamp? = nil, scope: MoveScope = .this, category: NagCategory? = nil,
        doneDefinition: DoneDefinition? = nil, description: Patch<String> = .absent,
        committedAt: Patch<Timestamp> = .absent, capture: Capture = .keyboard
    ) {
        self.dueAt = dueAt
        self.scope = scope
        self.category = category
        self.doneDefinition = doneDefinition
        self.description = description
        self.committedAt = committedAt
        self.capture = capture
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        try fields.refuse(
            ["recipient_id", "recurrence", "strategy_template", "family_id", "connection_id"],
            "cannot be changed; withdraw the nag and create another")
        dueAt = try fields.optional("due_at")
        scope = try fields.optional("scope") ?? .this
        category = try fields.optional("category")
        doneDefinition = try fields.optional("done_definition")
        description = try fields.textPatch("description", 0...2000)
        committedAt = try fields.patch("committed_at")
        capture = try Capture(fields)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("due_at", dueAt)
            if scope != .this { json.field("scope", scope) }
            json.fieldIfPresent("category", category)
            json.fieldIfPresent("done_definition", doneDefinition)
            json.patch("description", description)
            json.patch("committed_at", committedAt)
            capture.writeFields(to: &json)
        }
    }
}

/// Reports a nag as done.
public struct NagStatusUpdate: Hashable, WireObject {
    public var status: NagStatus
    public var note: String?
    public var capture: Capture

    public init(status: NagStatus, note: String? = nil, capture: Capture = .keyboard) {
        self.status = status
        self.note = note
        self.capture = capture
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        status = try fields.required("status")
        note = try fields.optionalText("note", 0...2000)
        capture = try Capture(fields)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("status", status)
            json.fieldIfPresent("note", note)
            capture.writeFields(to: &json)
        }
    }
}

/// Explains why a nag is not done.
public struct ExcuseCreate: Hashable, WireObject {
    public var text: String
    public var category: String?
    public var capture: Capture

    public init(text: String, category: String? = nil, capture: Capture = .keyboard) {
        self.text = text
        self.category = category
        self.capture = capture
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        text = try fields.text("text", 1...2000)
        category = try fields.optionalText("category", 0...64)
        capture = try Capture(fields)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("text", text)
            json.fieldIfPresent("category", category)
            capture.writeFields(to: &json)
        }
    }
}
