import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server

extension TestServer {
    /// Returns a family's default policy.
    func policy(_ family: FamilyID, as person: TestPerson) async throws -> PolicyResponse {
        let page = try await call(API.listPolicies, PolicyListQuery(familyID: family), as: person)
        return try #require(page.items.first)
    }

    func policyID(_ family: FamilyID) async throws -> PolicyID {
        let ids: [PolicyID] = try await database.rows("SELECT id FROM policies WHERE family_id = \(family)") {
            try $0["id"]
        }
        return try #require(ids.first)
    }

    @discardableResult
    func change(
        _ policy: PolicyID, _ constraints: JSONObject? = nil, owners: [TestPerson]? = nil, as person: TestPerson,
        ifMatch: String? = nil
    ) async throws -> PolicyResponse {
        try await call(
            API.updatePolicy, PolicyPath(policyID: policy),
            PolicyUpdate(constraints: constraints, owners: owners?.map(\.id)), as: person,
            headers: ifMatch.map { ["If-Match": $0] } ?? [:])
    }

    @discardableResult
    func approve(
        _ policy: PolicyID, _ comment: String? = nil, as person: TestPerson, ifMatch: String? = nil
    ) async throws -> ApprovalResponse {
        try await call(
            API.approvePolicy, PolicyPath(policyID: policy), ApprovalCreate(comment: comment), as: person,
            headers: ifMatch.map { ["If-Match": $0] } ?? [:])
    }

    func approvals(_ policy: PolicyID, as person: TestPerson) async throws -> Page<ApprovalResponse> {
        try await call(API.listPolicyApprovals, PolicyApprovalListQuery(policyID: policy), as: person)
    }
}
