import Domain
import JSON

/// The parameters of a sync: the family, the position to continue from, and whether the response includes facts.
public struct SyncQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    /// The server's time in the previous page; nil for the beginning of the feed.
    public var since: Timestamp?
    /// The cursor of the previous page, which takes precedence over `since`.
    public var cursor: String?
    /// Whether to include the facts that a device needs for AI operations.
    public var includesFacts: Bool

    public init(familyID: FamilyID, since: Timestamp? = nil, cursor: String? = nil, includesFacts: Bool = false) {
        self.familyID = familyID
        self.since = since
        self.cursor = cursor
        self.includesFacts = includesFacts
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        // `0` means from the beginning.
        since = try parameters.optionalQuery("since") == "0" ? nil : parameters.optionalQuery("since")
        cursor = try parameters.optionalQuery("cursor")
        includesFacts = try parameters.optionalQuery("facts") ?? false
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("since", since)
        parameters.query("cursor", cursor)
        if includesFacts { parameters.query("facts", includesFacts) }
    }
}

/// A change of points or streak in the feed.
public typealias SyncedGamificationEvent = GamificationEventResponse
