import Domain

extension API {
    /// Create a nag.
    public static let createNag = Endpoint<NoParameters, NagCreate, NagResponse>(
        Operation("createNag", .post, "/api/v1/nags", tag: .nags, status: 201))

    /// List nags.
    public static let listNags = Endpoint<NagListQuery, NoBody, Page<NagResponse>>(
        Operation("listNags", .get, "/api/v1/nags", tag: .nags))

    /// Get a nag.
    public static let getNag = Endpoint<NagPath, NoBody, NagResponse>(
        Operation("getNag", .get, "/api/v1/nags/{nag_id}", tag: .nags))

    /// Change, snooze or commit to a nag.
    public static let updateNag = Endpoint<NagPath, NagUpdate, NagResponse>(
        Operation("updateNag", .patch, "/api/v1/nags/{nag_id}", tag: .nags))

    /// Complete a nag.
    public static let updateNagStatus = Endpoint<NagPath, NagStatusUpdate, NagResponse>(
        Operation("updateNagStatus", .post, "/api/v1/nags/{nag_id}/status", tag: .nags, tier: .frequentWrite))

    /// Withdraw a nag.
    public static let withdrawNag = Endpoint<NagPath, NoBody, NagResponse>(
        Operation("withdrawNag", .post, "/api/v1/nags/{nag_id}/withdraw", tag: .nags))

    /// Dismiss a nag, so that lists can leave it out.
    public static let dismissNag = Endpoint<NagPath, NoBody, NagResponse>(
        Operation("dismissNag", .post, "/api/v1/nags/{nag_id}/dismiss", tag: .nags))

    /// Undo the dismissal of a nag.
    public static let undismissNag = Endpoint<NagPath, NoBody, NagResponse>(
        Operation("undismissNag", .post, "/api/v1/nags/{nag_id}/undismiss", tag: .nags))

    /// Submit an excuse.
    public static let submitExcuse = Endpoint<NagPath, ExcuseCreate, ExcuseResponse>(
        Operation(
            "submitExcuse", .post, "/api/v1/nags/{nag_id}/excuses", tag: .nags, status: 201, tier: .frequentWrite))

    /// List the excuses for a nag.
    public static let listExcuses = Endpoint<ExcuseListQuery, NoBody, Page<ExcuseResponse>>(
        Operation("listExcuses", .get, "/api/v1/nags/{nag_id}/excuses", tag: .nags))

    /// Get a nag's escalation phase.
    public static let getEscalation = Endpoint<NagPath, NoBody, EscalationResponse>(
        Operation("getEscalation", .get, "/api/v1/nags/{nag_id}/escalation", tag: .nags))

    /// Apply the due steps of a nag's escalation.
    public static let recomputeEscalation = Endpoint<NagPath, NoBody, EscalationResponse>(
        Operation(
            "recomputeEscalation", .post, "/api/v1/nags/{nag_id}/escalation/recompute", tag: .nags,
            tier: .frequentWrite))

    static let nagsOperations: [Operation] = [
        createNag.operation, listNags.operation, getNag.operation, updateNag.operation, updateNagStatus.operation,
        withdrawNag.operation, dismissNag.operation, undismissNag.operation, submitExcuse.operation,
        listExcuses.operation, getEscalation.operation, recomputeEscalation.operation,
    ]
}

// MARK: Parameters

/// Path parameter: one nag.
public struct NagPath: WireParameters, Hashable {
    public var nagID: NagID

    public init(nagID: NagID) {
        self.nagID = nagID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        nagID = try parameters.path("nag_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("nag_id", nagID)
    }
}

/// Query parameter: one nag.
public struct NagQuery: WireParameters, Hashable {
    public var nagID: NagID

    public init(nagID: NagID) {
        self.nagID = nagID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        nagID = try parameters.query("nag_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("nag_id", nagID)
    }
}

/// A filter for nags; without family and connection, all that the caller may see.
public struct NagListQuery: WireParameters, Hashable {
    public var familyID: FamilyID?
    public var connectionID: ConnectionID?
    public var status: NagStatus?
    public var excludeDismissed: Bool
    public var page: PageRequest

    public init(
        familyID: FamilyID? = nil, connectionID: ConnectionID? = nil, status: NagStatus? = nil,
        excludeDismissed: Bool = false, page: PageRequest = PageRequest()
    ) {
        self.familyID = familyID
        self.connectionID = connectionID
        self.status = status
        self.excludeDismissed = excludeDismissed
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.optionalQuery("family_id")
        connectionID = try parameters.optionalQuery("connection_id")
        status = try parameters.optionalQuery("state", or: "status")
        excludeDismissed = try parameters.optionalQuery("exclude_dismissed") ?? false
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("connection_id", connectionID)
        parameters.query("state", status)
        parameters.query("exclude_dismissed", excludeDismissed)
        page.write(to: &parameters)
    }
}

/// A page of a nag's excuses.
public struct ExcuseListQuery: WireParameters, Hashable {
    public var nagID: NagID
    public var page: PageRequest

    public init(nagID: NagID, page: PageRequest = PageRequest()) {
        self.nagID = nagID
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        nagID = try parameters.path("nag_id")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("nag_id", nagID)
        page.write(to: &parameters)
    }
}
