import Domain
import JSON

extension NagCreate {
    func check() throws(InvalidInput) {
        guard attachmentIDs.count <= AttachmentLimit.perNag else {
            throw InvalidInput("must have at most \(AttachmentLimit.perNag) elements", field: "attachment_ids")
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
            capture.writeMembers(to: &json)
        }
    }
}
