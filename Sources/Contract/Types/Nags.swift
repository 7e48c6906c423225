import Domain
import JSON

/// A nag.
public struct NagResponse: Hashable, WireObject {
    public var id: NagID
    public var familyID: FamilyID?
    public var connectionID: ConnectionID?
    public var creatorID: UserID
    public var recipientID: UserID
    public var creatorDisplayName: String?
    public var recipientDisplayName: String?
    public var dueAt: Timestamp
    public var category: NagCategory
    public var doneDefinition: DoneDefinition
    public var description: String?
    public var strategyTemplate: StrategyTemplate
    public var recurrence: Recurrence?
    /// The first time at which an instance of a series can be completed; nil for a nag that comes once.
    public var opensAt: Timestamp?
    public var parentNagID: NagID?
    public var status: NagStatus
    public var createdAt: Timestamp
    public var completedAt: Timestamp?
    public var committedAt: Timestamp?
    public var recipientDismissedAt: Timestamp?
    public var attachmentURLs: [AttachmentURL]
    /// The origin of its words.
    public var source: StoredSource

    public init(
        id: NagID, familyID: FamilyID?, connectionID: ConnectionID?, creatorID: UserID, recipientID: UserID,
        creatorDisplayName: String?, recipientDisplayName: String?, dueAt: Timestamp, category: NagCategory,
        doneDefinition: DoneDefinition, description: String?, strategyTemplate: StrategyTemplate,
        recurrence: Recurrence?, opensAt: Timestamp? = nil, parentNagID: NagID?, status: NagStatus,
        createdAt: Timestamp, completedAt: Timestamp?,
        committedAt: Timestamp?, recipientDismissedAt: Timestamp?, attachmentURLs: [AttachmentURL] = [],
        source: StoredSource = .text
    ) {
        self.id = id
        self.familyID = familyID
        self.connectionID = connectionID
        self.creatorID = creatorID
        self.recipientID = recipientID
        self.creatorDisplayName = creatorDisplayName
        self.recipientDisplayName = recipientDisplayName
        self.dueAt = dueAt
        self.category = category
        self.doneDefinition = doneDefinition
        self.description = description
        self.strategyTemplate = strategyTemplate
        self.recurrence = recurrence
        self.opensAt = opensAt
        self.parentNagID = parentNagID
        self.status = status
        self.createdAt = createdAt
        self.completedAt = completedAt
        self.committedAt = committedAt
        self.recipientDismissedAt = recipientDismissedAt
        self.attachmentURLs = attachmentURLs
        self.source = source
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        familyID = try fields.optional("family_id")
        connectionID = try fields.optional("connection_id")
        creatorID = try fields.required("creator_id")
        recipientID = try fields.required("recipient_id")
        creatorDisplayName = try fields.optional("creator_display_name")
        recipientDisplayName = try fields.optional("recipient_display_name")
        dueAt = try fields.required("due_at")
        category = try fields.required("category")
        doneDefinition = try fields.required("done_definition")
        description = try fields.optional("description")
        strategyTemplate = try fields.required("strategy_template")
        recurrence = try fields.optional("recurrence")
        opensAt = try fields.optional("opens_at")
        parentNagID = try fields.optional("parent_nag_id")
        status = try fields.required("status")
        createdAt = try fields.required("created_at")
        completedAt = try fields.optional("completed_at")
        committedAt = try fields.optional("committed_at")
        recipientDismissedAt = try fields.optional("recipient_dismissed_at")
        attachmentURLs = try fields.defaulted("attachment_urls", to: [])
        source = try fields.defaulted("source", to: .text)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("family_id", familyID)
            json.field("connection_id", connectionID)
            json.field("creator_id", creatorID)
            json.field("recipient_id", recipientID)
            json.field("creator_display_name", creatorDisplayName)
            json.field("recipient_display_name", recipientDisplayName)
            json.field("due_at", dueAt)
            json.field("category", category)
            json.field("done_definition", doneDefinition)
            json.field("description", description)
            json.field("strategy_template", strategyTemplate)
            json.field("recurrence", recurrence)
            json.field("opens_at", opensAt)
            json.field("parent_nag_id", parentNagID)
            json.field("status", status)
            json.field("created_at", createdAt)
            json.field("completed_at", completedAt)
            json.field("committed_at", committedAt)
            json.field("recipient_dismissed_at", recipientDismissedAt)
            json.field("attachment_urls", attachmentURLs)
            json.field("source", source)
            json.field("etag", etag)
        }
    }

    /// The entity tag for `If-Match`: it changes with every edit, and with the nag's status.
    public var etag: String {
        var hash = FNV1a()
        for text in [status.rawValue, category.rawValue, doneDefinition.rawValue, description ?? ""] {
            hash.mix(text.utf8)
            hash.mix(CollectionOfOne(0xFF))
        }
        for time in [dueAt, opensAt, completedAt, committedAt, recipientDismissedAt] {
            withUnsafeBytes(of: (time?.flooredToMillisecond.microseconds ?? .min).littleEndian) { hash.mix($0) }
        }
        return "\"\(String(hash.value, radix: 16))\""
    }
}

/// An excuse as the creator and guardians see it.
public struct ExcuseResponse: Hashable, WireObject {
    public var id: ExcuseID
    public var nagID: NagID
    public var summary: String
    public var at: Timestamp?

    public init(id: ExcuseID, nagID: NagID, summary: String, at: Timestamp?) {
        self.id = id
        self.nagID = nagID
        self.summary = summary
        self.at = at
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        nagID = try fields.required("nag_id")
        summary = try fields.required("summary")
        at = try fields.optional("at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("nag_id", nagID)
            json.field("summary", summary)
            json.field("at", at)
        }
    }
}
