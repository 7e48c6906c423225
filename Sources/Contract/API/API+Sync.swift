import Domain

extension API {
    /// What changed in a family.
    public static let syncEvents = Endpoint<SyncQuery, NoBody, SyncResponse>(
        Operation("syncEvents", .get, "/api/v1/sync/events", tag: .sync))

    /// Hand in what was done offline.
    public static let uploadEvents = Endpoint<NoParameters, OutboxUpload, OutboxAnswer>(
        Operation("uploadEvents", .post, "/api/v1/sync/events", tag: .sync, tier: .frequentWrite))

    static let syncOperations: [Operation] = [
        syncEvents.operation, uploadEvents.operation,
    ]
}

// MARK: Parameters

/// Which family, and from where on.
public struct SyncQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    public var since: Timestamp?
    public var cursor: String?
    /// Whether the answer is to hold what a device needs to answer for the mediator.
    public var facts: Bool

    public init(familyID: FamilyID, since: Timestamp? = nil, cursor: String? = nil, facts: Bool = false) {
        self.familyID = familyID
        self.since = since
        self.cursor = cursor
        self.facts = facts
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        // `0` means from the beginning.
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
