import Domain
import JSON

/// The changes of a family since the client's cursor.
public struct SyncResponse: Hashable, WireObject {
    public var nags: [SyncedNag]
    public var nagEvents: [SyncedNagEvent]
    public var aiMediationEvents: [SyncedAIMediationEvent]
    public var gamificationEvents: [SyncedGamificationEvent]
    public var connections: [SyncedConnection]
    /// The family's ledger timestamp, not the wall-clock time.
    public var serverTime: Timestamp
    public var cursor: String
    public var hasMore: Bool
    public var deleted: [DeletedEntity]
    public var mustRefetch: Bool
    /// Present on the last page, if requested and if the family has changed since the cursor.
    public var facts: FamilyFacts?
    /// The audit log's newest checkpoint, a signed note. Clients keep the largest and MUST refuse a smaller one.
    public var checkpoint: String?

    public init(
        nags: [SyncedNag], nagEvents: [SyncedNagEvent], aiMediationEvents: [SyncedAIMediationEvent],
        gamificationEvents: [SyncedGamificationEvent], connections: [SyncedConnection] = [], serverTime: Timestamp,
        cursor: String, hasMore: Bool, deleted: [DeletedEntity], mustRefetch: Bool, facts: FamilyFacts? = nil,
        checkpoint: String? = nil
    ) {
        self.nags = nags
        self.nagEvents = nagEvents
        self.aiMediationEvents = aiMediationEvents
        self.gamificationEvents = gamificationEvents
        self.connections = connections
        self.serverTime = serverTime
        self.cursor = cursor
        self.hasMore = hasMore
        self.deleted = deleted
        self.mustRefetch = mustRefetch
        self.facts = facts
        self.checkpoint = checkpoint
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        nags = try fields.required("nags")
        nagEvents = try fields.required("nag_events")
        aiMediationEvents = try fields.required("ai_mediation_events")
        gamificationEvents = try fields.required("gamification_events")
        connections = try fields.defaulted("connections", to: [])
        serverTime = try fields.required("server_time")
        cursor = try fields.required("cursor")
        hasMore = try fields.required("has_more")
        deleted = try fields.required("deleted")
        mustRefetch = try fields.required("must_refetch")
        facts = try fields.optional("facts")
        checkpoint = try fields.optional("checkpoint")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("nags", nags)
            json.field("nag_events", nagEvents)
            json.field("ai_mediation_events", aiMediationEvents)
            json.field("gamification_events", gamificationEvents)
            json.field("connections", connections)
            json.field("server_time", serverTime)
            json.field("cursor", cursor)
            json.field("has_more", hasMore)
            json.field("deleted", deleted)
            json.field("must_refetch", mustRefetch)
            json.field("facts", facts)
            json.field("checkpoint", checkpoint)
        }
    }
}

/// An object that a client must remove from its cache.
public struct DeletedEntity: Hashable, WireObject {
    public var entity: String
    public var id: ResourceID

    public init(entity: String, id: ResourceID) {
        self.entity = entity
        self.id = id
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        entity = try fields.required("entity")
        id = try fields.required("id")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("entity", entity)
            json.field("id", id)
        }
    }
}
