import Domain

extension API {
    /// Read the audit trail.
    public static let listAuditEvents = Endpoint<AuditQuery, NoBody, AuditPage>(
        Operation("listAuditEvents", .get, "/api/v1/audit/events", tag: .audit))

    static let auditOperations: [Operation] = [listAuditEvents.operation] + auditLogOperations
}

// MARK: Parameters

/// Which entries of the trail; every condition narrows.
public struct AuditQuery: WireParameters, Hashable {
    public var familyID: FamilyID?
    public var actorID: UserID?
    public var subjectID: UserID?
    public var kind: String?
    public var resourceID: ResourceID?
    public var traceID: TraceID?
    /// Free search: an id of anything, or part of a kind.
    public var q: String?
    public var from: Timestamp?
    public var to: Timestamp?
    public var cursor: String?
    /// 1…200.
    public var limit: Int

    public static let defaultLimit = 50

    public init(
        familyID: FamilyID? = nil, actorID: UserID? = nil, subjectID: UserID? = nil, kind: String? = nil,
        resourceID: ResourceID? = nil, traceID: TraceID? = nil, q: String? = nil, from: Timestamp? = nil,
        to: Timestamp? = nil,
        cursor: String? = nil, limit: Int = defaultLimit
    ) {
        self.familyID = familyID
        self.actorID = actorID
        self.subjectID = subjectID
        self.kind = kind
        self.resourceID = resourceID
        self.traceID = traceID
        self.q = q
        self.from = from
        self.to = to
        self.cursor = cursor
        self.limit = min(max(limit, 1), PageRequest.largestLimit)
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.optionalQuery("family_id")
        actorID = try parameters.optionalQuery("actor_id")
        subjectID = try parameters.optionalQuery("subject_id")
        kind = try parameters.optionalQuery("kind")
        resourceID = try parameters.optionalQuery("resource_id")
        traceID = try parameters.optionalQuery("trace_id")
        q = try parameters.optionalQuery("q")
        from = try parameters.optionalQuery("from")
        to = try parameters.optionalQuery("to")
        cursor = try parameters.optionalQuery("cursor")
        limit = try parameters.limit(default: Self.defaultLimit)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("actor_id", actorID)
        parameters.query("subject_id", subjectID)
        parameters.query("kind", kind)
        parameters.query("resource_id", resourceID)
        parameters.query("trace_id", traceID)
        parameters.query("q", q)
        parameters.query("from", from)
        parameters.query("to", to)
        parameters.query("cursor", cursor)
        parameters.query("limit", limit)
    }
}
