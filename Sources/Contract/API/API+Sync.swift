import Domain

extension API {
    /// What changed in a family.
    public static let syncEvents = Endpoint<SyncQuery, NoBody, SyncResponse>(
        Operation("syncEvents", .get, "/api/v1/sync/events", tag: .sync))

    static let syncOperations: [Operation] = [
        syncEvents.operation
    ]
}

// MARK: Parameters

/// Which family, and from where on.
public struct SyncQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    public var since: Timestamp?
    public var cursor: String?

    public init(familyID: FamilyID, since: Timestamp? = nil, cursor: String? = nil) {
        self.familyID = familyID
        self.since = since
        self.cursor = cursor
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        since = try parameters.optionalQuery("since")
        cursor = try parameters.optionalQuery("cursor")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("since", since)
        parameters.query("cursor", cursor)
    }
}
