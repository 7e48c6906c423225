import Domain
import JSON

/// A nag in the feed.
public struct SyncedNag: Hashable, WireObject {
    public var id: NagID
    public var familyID: FamilyID
    public var creatorID: UserID
    public var recipientID: UserID
    public var dueAt: Timestamp
    public var category: String
    public var doneDefinition: String
    public var description: String?
    public var status: String
    public var createdAt: Timestamp
    public var committedAt: Timestamp?
    /// The first time at which an instance of a series can be completed.
    public var opensAt: Timestamp?

    public init(
        id: NagID, familyID: FamilyID, creatorID: UserID, recipientID: UserID, dueAt: Timestamp, category: String,
        doneDefinition: String, description: String?, status: String, createdAt: Timestamp, committedAt: Timestamp?,
        opensAt: Timestamp? = nil
    ) {
        self.id = id
        self.familyID = familyID
        self.creatorID = creatorID
        self.recipientID = recipientID
        self.dueAt = dueAt
        self.category = category
        self.doneDefinition = doneDefinition
        self.description = description
        self.status = status
        self.createdAt = createdAt
        self.committedAt = committedAt
        self.opensAt = opensAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        familyID = try fields.required("family_id")
        creatorID = try fields.required("creator_id")
        recipientID = try fields.required("recipient_id")
        dueAt = try fields.required("due_at")
        category = try fields.required("category")
        doneDefinition = try fields.required("done_definition")
        description = try fields.optional("description")
        status = try fields.required("status")
        createdAt = try fields.required("created_at")
        committedAt = try fields.optional("committed_at")
        opensAt = try fields.optional("opens_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("family_id", familyID)
            json.field("creator_id", creatorID)
            json.field("recipient_id", recipientID)
            json.field("due_at", dueAt)
            json.field("category", category)
            json.field("done_definition", doneDefinition)
            json.field("description", description)
            json.field("status", status)
            json.field("created_at", createdAt)
            json.field("committed_at", committedAt)
            json.field("opens_at", opensAt)
        }
    }
}

/// An event of a nag.
public struct SyncedNagEvent: Hashable, WireObject {
    public var id: EventID
    public var nagID: NagID
    public var eventType: String
    public var actorID: UserID
    public var at: Timestamp
    /// The details: only strings, because the mobile client otherwise drops the whole response.
    public var payload: [String: String]
    /// The origin of the words; nil from older servers.
    public var source: String?

    public init(
        id: EventID, nagID: NagID, eventType: String, actorID: UserID, at: Timestamp, payload: [String: String],
        source: String? = nil
    ) {
        self.id = id
        self.nagID = nagID
        self.eventType = eventType
        self.actorID = actorID
        self.at = at
        self.payload = payload
        self.source = source
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        nagID = try fields.required("nag_id")
        eventType = try fields.required("event_type")
        actorID = try fields.required("actor_id")
        at = try fields.required("at")
        payload = try fields.required("payload")
        source = try fields.optional("source")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("nag_id", nagID)
            json.field("event_type", eventType)
            json.field("actor_id", actorID)
            json.field("at", at)
            json.field("payload", payload)
            json.fieldIfPresent("source", source)
        }
    }
}

/// An event of the mediator about a nag.
public struct SyncedAIMediationEvent: Hashable, WireObject {
    public var id: EventID
    public var nagID: NagID
    public var promptType: String
    public var tone: String
    public var summary: String
    public var at: Timestamp

    public init(id: EventID, nagID: NagID, promptType: String, tone: String, summary: String, at: Timestamp) {
        self.id = id
        self.nagID = nagID
        self.promptType = promptType
        self.tone = tone
        self.summary = summary
        self.at = at
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        nagID = try fields.required("nag_id")
        promptType = try fields.required("prompt_type")
        tone = try fields.required("tone")
        summary = try fields.required("summary")
        at = try fields.required("at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("nag_id", nagID)
            json.field("prompt_type", promptType)
            json.field("tone", tone)
            json.field("summary", summary)
            json.field("at", at)
        }
    }
}

/// A change of points or streak in the feed.
public typealias SyncedGamificationEvent = GamificationEventResponse

/// A connection between adults of two families, in the feed.
public struct SyncedConnection: Hashable, WireObject {
    public var id: ConnectionID
    public var inviterID: UserID
    public var inviteeID: UserID?
    public var inviteeEmail: String
    public var status: String
    public var caregiver: Bool
    public var createdAt: Timestamp
    public var respondedAt: Timestamp?

    public init(
        id: ConnectionID, inviterID: UserID, inviteeID: UserID?, inviteeEmail: String, status: String, caregiver: Bool,
        createdAt: Timestamp, respondedAt: Timestamp?
    ) {
        self.id = id
        self.inviterID = inviterID
        self.inviteeID = inviteeID
        self.inviteeEmail = inviteeEmail
        self.status = status
        self.caregiver = caregiver
        self.createdAt = createdAt
        self.respondedAt = respondedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        inviterID = try fields.required("inviter_id")
        inviteeID = try fields.optional("invitee_id")
        inviteeEmail = try fields.required("invitee_email")
        status = try fields.required("status")
        caregiver = try fields.required("caregiver")
        createdAt = try fields.required("created_at")
        respondedAt = try fields.optional("responded_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("inviter_id", inviterID)
            json.field("invitee_id", inviteeID)
            json.field("invitee_email", inviteeEmail)
            json.field("status", status)
            json.field("caregiver", caregiver)
            json.field("created_at", createdAt)
            json.field("responded_at", respondedAt)
        }
    }
}
