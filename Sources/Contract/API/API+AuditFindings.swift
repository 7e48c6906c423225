import Domain

extension API {
    /// Check one family's log and state.
    public static let checkAuditLog = Endpoint<NoParameters, AuditCheckOrder, AuditCheckResult>(
        Operation("checkAuditLog", .post, "/api/v1/audit/check", tag: .audit))

    /// List what verifications on request have found.
    public static let listAuditFindings = Endpoint<AuditFindingsQuery, NoBody, Page<KeptFinding>>(
        Operation("listAuditFindings", .get, "/api/v1/audit/findings", tag: .audit))

    /// Acknowledge a finding.
    public static let acknowledgeAuditFinding = Endpoint<AuditFindingPath, FindingAcknowledgement, KeptFinding>(
        Operation(
            "acknowledgeAuditFinding", .post, "/api/v1/audit/findings/{finding_id}/acknowledge", tag: .audit))

    static let auditFindingOperations: [Operation] = [
        checkAuditLog.operation, listAuditFindings.operation, acknowledgeAuditFinding.operation,
    ]
}

// MARK: Parameters

/// A page of findings.
public struct AuditFindingsQuery: WireParameters, Hashable {
    /// Whether to leave out those that were acknowledged.
    public var isOpen: Bool
    public var page: PageRequest

    public init(isOpen: Bool = false, page: PageRequest = PageRequest()) {
        self.isOpen = isOpen
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        isOpen = try parameters.optionalQuery("open") ?? false
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        if isOpen { parameters.query("open", isOpen) }
        page.write(to: &parameters)
    }
}

/// The finding in a path.
public struct AuditFindingPath: WireParameters, Hashable {
    public var findingID: AuditFindingID

    public init(findingID: AuditFindingID) {
        self.findingID = findingID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        findingID = try parameters.path("finding_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("finding_id", findingID)
    }
}
