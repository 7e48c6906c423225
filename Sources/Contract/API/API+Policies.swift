import Domain

extension API {
    /// List a family's policies.
    public static let listPolicies = Endpoint<PolicyListQuery, NoBody, Page<PolicyResponse>>(
        Operation("listPolicies", .get, "/api/v1/policies", tag: .policies))

    /// Read a policy.
    public static let getPolicy = Endpoint<PolicyPath, NoBody, PolicyResponse>(
        Operation("getPolicy", .get, "/api/v1/policies/{policy_id}", tag: .policies))

    /// Change a policy, or propose a change to its co-owner.
    public static let updatePolicy = Endpoint<PolicyPath, PolicyUpdate, PolicyResponse>(
        Operation("updatePolicy", .patch, "/api/v1/policies/{policy_id}", tag: .policies))

    /// Approve what is proposed for a policy, or the policy in force.
    public static let approvePolicy = Endpoint<PolicyPath, ApprovalCreate?, ApprovalResponse>(
        Operation("approvePolicy", .post, "/api/v1/policies/{policy_id}/approvals", tag: .policies, status: 201))

    /// List the approvals of a policy.
    public static let listPolicyApprovals = Endpoint<PolicyApprovalListQuery, NoBody, Page<ApprovalResponse>>(
        Operation("listPolicyApprovals", .get, "/api/v1/policies/{policy_id}/approvals", tag: .policies))

    static let policiesOperations: [Operation] = [
        listPolicies.operation, getPolicy.operation, updatePolicy.operation, approvePolicy.operation,
        listPolicyApprovals.operation,
    ]
}

// MARK: Parameters

/// The family whose policies are listed, and the page.
public struct PolicyListQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    public var page: PageRequest

    public init(familyID: FamilyID, page: PageRequest = PageRequest()) {
        self.familyID = familyID
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        page.write(to: &parameters)
    }
}

/// The policy in a path.
public struct PolicyPath: WireParameters, Hashable {
    public var policyID: PolicyID

    public init(policyID: PolicyID) {
        self.policyID = policyID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        policyID = try parameters.path("policy_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("policy_id", policyID)
    }
}

/// The policy whose approvals are listed, and the page.
public struct PolicyApprovalListQuery: WireParameters, Hashable {
    public var policyID: PolicyID
    public var page: PageRequest

    public init(policyID: PolicyID, page: PageRequest = PageRequest()) {
        self.policyID = policyID
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        policyID = try parameters.path("policy_id")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("policy_id", policyID)
        page.write(to: &parameters)
    }
}
