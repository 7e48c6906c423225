import Domain

/// A filter for audit entries; all conditions must match.
public struct AuditQuery: WireParameters, Hashable {
    public var familyID: FamilyID?
    public var actorID: UserID?
    public var subjectID: UserID?
    /// The actor or the subject: an account's ID or a pseudonym.
    public var personID: UserID?
    public var kind: String?
    public var resourceID: ResourceID?
    public var traceID: TraceID?
    /// Free-text search: any ID or its last eight digits, or a part of a name or kind.
    public var q: String?
    public var from: Timestamp?
    public var to: Timestamp?
    /// Whether the administrator's own reads are left out.
    public var withoutOwnReads: Bool
    public var cursor: String?
    /// 1…200.
    public var limit: Int

    public static let defaultLimit = 50

    public init(
        familyID: FamilyID? = nil, actorID: UserID? = nil, subjectID: UserID? = nil, personID: UserID? = nil,
        kind: String? = nil, resourceID: ResourceID? = nil, traceID: TraceID? = nil, q: String? = nil,
        from: Timestamp? = nil, to: Timestamp? = nil, withoutOwnReads: Bool = false, cursor: String? = nil,
        limit: Int = defaultLimit
    ) {
        self.familyID = familyID
        self.actorID = actorID
        self.subjectID = subjectID
        self.personID = personID
        self.kind = kind
        self.resourceID = resourceID
        self.traceID = traceID
        self.q = q
        self.from = from
        self.to = to
        self.withoutOwnReads = withoutOwnReads
        self.cursor = cursor
        self.limit = min(max(limit, 1), PageRequest.largestLimit)
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.optionalQuery("family_id")
        actorID = try parameters.optionalQuery("actor_id")
        subjectID = try parameters.optionalQuery("subject_id")
        personID = try parameters.optionalQuery("person_id")
        kind = try parameters.optionalQuery("kind")
        resourceID = try parameters.optionalQuery("resource_id")
        traceID = try parameters.optionalQuery("trace_id")
        q = try parameters.optionalQuery("q")
        from = try parameters.optionalQuery("from", or: "from_date", "since")
        to = try parameters.optionalQuery("to", or: "to_date", "until")
        withoutOwnReads = try parameters.optionalQuery("without_own_reads") ?? false
        cursor = try parameters.optionalQuery("cursor")
        limit = try parameters.limit(default: Self.defaultLimit)
    }

    public func write(to parameters: inout ParameterWriter) {
        writeConditions(to: &parameters)
        parameters.query("cursor", cursor)
        parameters.query("limit", limit)
    }

    /// Writes all conditions, without cursor and limit.
    func writeConditions(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("actor_id", actorID)
        parameters.query("subject_id", subjectID)
        parameters.query("person_id", personID)
        parameters.query("kind", kind)
        parameters.query("resource_id", resourceID)
        parameters.query("trace_id", traceID)
        parameters.query("q", q)
        parameters.query("from", from)
        parameters.query("to", to)
        if withoutOwnReads { parameters.query("without_own_reads", withoutOwnReads) }
    }
}

/// The entries to export, newest first, and their format. The filter's `cursor` and `limit` are ignored.
public struct AuditEventsExportQuery: WireParameters, Hashable {
    /// The file format.
    public enum Format: String, Sendable, CaseIterable, WireEnumeration {
        /// One JSON object per line.
        case ndjson
        /// RFC 4180 with a header line. Cells that a spreadsheet would read as a formula are prefixed with an
        /// apostrophe.
        case csv
    }

    public var filter: AuditQuery
    public var format: Format

    public init(filter: AuditQuery = AuditQuery(), format: Format = .ndjson) {
        self.filter = filter
        self.format = format
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        filter = try AuditQuery(parameters)
        format = try parameters.optionalQuery("format") ?? .ndjson
    }

    public func write(to parameters: inout ParameterWriter) {
        filter.writeConditions(to: &parameters)
        parameters.query("format", format)
    }
}

extension AuditEntryPath {
    public init(familyID: FamilyID, n: Int) { self.init(familyID: familyID, n: String(n)) }

    /// The entry's number; nil if `n` is not a number of at most 18 digits.
    public var number: Int64? {
        guard n.utf8.count <= 18, n.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(n)
    }
}

/// A tile's level and its name in groups of three digits. The last group may denote a partial tile: `067.p/8`.
public protocol TileName: WireParameters {
    var level: String { get }
    var parts: [String] { get }
}

extension TilePath: TileName {
    public var parts: [String] { [first] }
}

extension TilePathOfTwo: TileName {
    public var parts: [String] { [first, second] }
}

extension TilePathOfThree: TileName {
    public var parts: [String] { [first, second, third] }
}
