import Domain

extension API {
    /// Get the changes of a family since a cursor.
    public static let syncEvents = Endpoint<SyncQuery, NoBody, SyncResponse>(
        Operation("syncEvents", .get, "/api/v1/sync/events", tag: .sync))

    /// Upload what a device did offline.
    public static let uploadEvents = Endpoint<NoParameters, OutboxUpload, OutboxAnswer>(
        Operation("uploadEvents", .post, "/api/v1/sync/events", tag: .sync, tier: .frequentWrite))

    /// Create a ticket that opens one WebSocket.
    public static let createSocketTicket = Endpoint<NoParameters, NoBody, SocketTicket>(
        Operation("createSocketTicket", .post, "/api/v1/ws/tickets", tag: .sync, status: 201))

    static let syncOperations: [Operation] = [
        syncEvents.operation, uploadEvents.operation, createSocketTicket.operation,
    ]
}

// MARK: Parameters

/// The family, and where to continue.
public struct SyncQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    public var since: Timestamp?
    public var cursor: String?
    /// Whether to include the facts a device needs for AI operations.
    public var facts: Bool

    public init(familyID: FamilyID, since: Timestamp? = nil, cursor: String? = nil, facts: Bool = false) {
        self.familyID = familyID
        self.since = since
        self.cursor = cursor
        self.facts = facts
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        // `0` means from the start.
        since = try parameters.optionalQuery("since") == "0" ? nil : parameters.optionalQuery("since")
        cursor = try parameters.optionalQuery("cursor")
        facts = try parameters.optionalQuery("facts") ?? false
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("since", since)
        parameters.query("cursor", cursor)
        if facts { parameters.query("facts", facts) }
    }
}
