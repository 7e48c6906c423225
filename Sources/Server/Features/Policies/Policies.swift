import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL

/// Policies: the limits of a family that only its guardians decide, and their approvals.
///
/// A policy has one or two owners. A change is in force as soon as every owner has approved it. A proposal counts as
/// its proposer's approval, so a sole owner decides at once. A new proposal replaces an earlier one. The features that
/// enforce a limit read it in their own statements, so a change applies to every server instance once it is committed.
///
/// If one of two owners leaves, no limit can be widened until a new co-owner is agreed on. The new co-owner has to
/// approve too, and the last approval is possible only after `CurrentPolicy.coOwnerReplacementDelay`.
final class Policies {
    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `policies`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.listPolicies, list)
        routes.signedIn(API.getPolicy, get)
        routes.signedIn(API.updatePolicy, update)
        routes.signedIn(API.approvePolicy, approve)
        routes.signedIn(API.listPolicyApprovals, listApprovals)
    }

    // MARK: Reading

    /// Lists the family's policies, the default one first.
    func list(_ caller: Caller, _ call: Call<PolicyListQuery, NoBody>) async throws -> Page<PolicyResponse> {
        let (family, page) = (call.parameters.familyID, call.parameters.page)
        let member = try await services.access.member(caller, of: family, services.database)
        try await requireReader(caller, member)
        let rows = try await services.database.query(PolicyStatements.page(page, in: family))
        return try Page(rows, answering: page) { try CurrentPolicy(ifAny: $0)?.response }
    }

    /// Returns a policy of the caller's family.
    func get(_ caller: Caller, _ call: Call<PolicyPath, NoBody>) async throws -> PolicyResponse {
        let member = try await services.access.member(caller, orThrow: .noSuchPolicy, services.database)
        try await requireReader(caller, member)
        return try await policy(call.parameters.policyID, of: member, services.database).response
    }

    /// Lists the approvals of a policy, newest first.
    func listApprovals(
        _ caller: Caller, _ call: Call<PolicyApprovalListQuery, NoBody>
    ) async throws -> Page<ApprovalResponse> {
        let (id, page) = (call.parameters.policyID, call.parameters.page)
        let member = try await services.access.member(caller, orThrow: .noSuchPolicy, services.database)
        try await requireReader(caller, member)
        _ = try await policy(id, of: member, services.database)
        let rows = try await services.database.query(
            PolicyStatements.approvals(page, of: id, in: member.familyID))
        return try Page(rows, answering: page) { try ApprovalResponse(ifAny: $0) }
    }

    /// Requires that the member is a guardian, because nobody else may read policies.
    /// - Throws: 403 for other members, recorded in the audit log.
    private func requireReader(_ caller: Caller, _ member: Member) async throws {
        if let denial = member.denial(of: .editPolicy) {
            try await services.refuse(caller, member, .policyReadDenied, denial)
        }
    }

    private func policy(
        _ id: PolicyID, of member: Member, _ queries: any Queries
    ) async throws -> CurrentPolicy {
        guard let row = try await queries.query(PolicyStatements.policy(id, in: member.familyID)).first else {
            throw APIError.noSuchPolicy
        }
        return try CurrentPolicy(row)
    }

    // MARK: Changing

    /// Changes the policy, or proposes the change if others have to approve it. A change that equals the open proposal
    /// approves it. The answer is the policy in force.
    func update(_ caller: Caller, _ call: Call<PolicyPath, PolicyUpdate>) async throws -> PolicyResponse {
        // A repeated request must not send the mails again.
        if let earlier: PolicyResponse = try await services.ledger.replayEarlierAnswer(caller) { return earlier }
        let change = try PolicyChange(call.body)
        let answer: PolicyResponse = try await write(
            caller, call.parameters.policyID, deniedAs: .policyChangeDenied
        ) {
            member, policy, queries in
            guard policy.terms.owners.contains(member.userID) else {
                return .denied(.policyChangeDenied, to: member, .policyOwnerOnly)
            }
            try policy.requireIfMatch(of: caller)
            let terms = try change.applied(to: policy.terms)
            guard terms != policy.terms else { return .answer(policy.response) }
            let pseudonyms = try await checkedOwnerPseudonyms(before: policy, after: terms, queries)
            if policy.awaitsCoOwner, terms.widens(policy.terms) {
                return .denied(
                    .policyChangeDenied, to: member, reason: Denial.coOwnerNeeded.rawValue,
                    APIError(.policyForbidden, .coOwnerNeeded))
            }
            let isProposed = policy.proposal?.terms == terms
            let approvers = (isProposed ? policy.proposal?.approvers ?? [] : []).union([member.userID])
            if approvers.isSuperset(of: policy.requiredApprovers(of: terms)) {
                let approval = isProposed ? makeApproval(of: policy, by: member, nil, at: caller.now) : nil
                let (act, changedPolicy) = enactmentAct(terms, policy, member, pseudonyms, approval)
                return .perform(
                    try await addingDailyCount(act, member, at: caller.now, queries), changedPolicy.response)
            }
            if isProposed, policy.proposal?.approvers.contains(member.userID) ?? false {
                return .answer(policy.response)
            }
            let ids: (PolicyProposalID, PolicyApprovalID) = (
                services.random.identifier(at: caller.now), services.random.identifier(at: caller.now)
            )
            let (act, proposedPolicy) =
                isProposed
                ? approvalAct(policy, member, makeApproval(of: policy, by: member, nil, at: caller.now))
                : proposalAct(
                    terms, policy, member, pseudonyms, ids, DeliveryIDs(services.random, at: caller.now), at: caller.now
                )
            return .perform(try await addingDailyCount(act, member, at: caller.now, queries), proposedPolicy.response)
        }
        if let mailer = services.mailer, let proposal = answer.proposal, proposal.proposedAt == caller.now {
            let emailQuery = PolicyStatements.coOwnerNoticeEmails(of: proposal.id, in: answer.familyID)
            for row in try await services.database.query(emailQuery).map({ $0 }) {
                mailer.send(.coOwnerProposed, to: try row["email"])
            }
        }
        return answer
    }

    /// Approves the proposal; without one, the policy in force, which does not change. Repeating an approval changes
    /// nothing.
    func approve(_ caller: Caller, _ call: Call<PolicyPath, ApprovalCreate?>) async throws -> ApprovalResponse {
        try await write(caller, call.parameters.policyID, deniedAs: .policyApproveDenied) { member, policy, queries in
            guard policy.permittedApprovers.contains(member.userID) else {
                return .denied(.policyApproveDenied, to: member, .policyOwnerOnly)
            }
            try policy.requireIfMatch(of: caller)
            let earlier = try await queries.query(PolicyStatements.approval(of: policy, by: member.userID))
            if let row = earlier.first { return .answer(try ApprovalResponse(row)) }
            let approval = makeApproval(of: policy, by: member, call.body?.comment, at: caller.now)
            guard let proposal = policy.proposal,
                proposal.approvers.union([member.userID]).isSuperset(of: policy.requiredApprovers(of: proposal.terms))
            else {
                let act = approvalAct(policy, member, approval).act
                return .perform(try await addingDailyCount(act, member, at: caller.now, queries), approval)
            }
            try policy.requireCoOwnerReplacementDelay(at: caller.now)
            let pseudonyms = try await checkedOwnerPseudonyms(before: policy, after: proposal.terms, queries)
            let act = enactmentAct(proposal.terms, policy, member, pseudonyms, approval).act
            return .perform(try await addingDailyCount(act, member, at: caller.now, queries), approval)
        }
    }

    /// Returns the act with a statement that counts it as one of the day's changes.
    /// - Throws: 429 when the member has reached the day's limit of changes.
    private func addingDailyCount(
        _ act: Act, _ member: Member, at now: Timestamp, _ queries: any Queries
    ) async throws -> Act {
        var act = act
        let count = DailyCount(limit: .policyChanges, user: member.userID)
        act.statements.append(try await count.checkedIncrement(at: now, queries))
        return act
    }

    /// Performs a write to a policy of the caller's family, for guardians.
    private func write<Answer: WireContent>(
        _ caller: Caller, _ id: PolicyID, deniedAs kind: AuditKind,
        _ decide: (Member, CurrentPolicy, any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        let family = try await services.access.member(caller, orThrow: .noSuchPolicy, services.database).familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            if let denial = member.denial(of: .editPolicy) { return .denied(kind, to: member, denial) }
            return try await decide(member, policy(id, of: member, queries), queries)
        }
    }

    /// Returns the pseudonyms of the owners before and after a change.
    /// - Throws: 422 if somebody who would become an owner is not a guardian with a password.
    private func checkedOwnerPseudonyms(
        before policy: CurrentPolicy, after terms: PolicyTerms, _ queries: any Queries
    ) async throws -> [UserID: Pseudonym] {
        let oldOwners = Set(policy.terms.owners)
        var pseudonyms: [UserID: Pseudonym] = [:]
        var ineligible = Set(terms.owners).subtracting(oldOwners)
        let everybody = oldOwners.union(terms.owners).sorted()
        let eligibilityQuery = PolicyStatements.ownerEligibility(of: everybody, in: policy.familyID)
        for row in try await queries.query(eligibilityQuery).map({ $0 }) {
            let id: UserID = try row["id"]
            pseudonyms[id] = try row["pseudonym"]
            if try row["may_own"] { ineligible.remove(id) }
        }
        guard ineligible.isEmpty else { throw APIError.ownersAreNoGuardians }
        return pseudonyms
    }

    private func makeApproval(
        of policy: CurrentPolicy, by member: Member, _ comment: String?, at now: Timestamp
    ) -> ApprovalResponse {
        ApprovalResponse(
            id: services.random.identifier(at: now), policyID: policy.id, approverID: member.userID, approvedAt: now,
            comment: comment)
    }
}

extension ApprovalResponse {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], policyID: try row["policy_id"], approverID: try row["approver_id"],
            approvedAt: try row["approved_at"], comment: try row["comment"])
    }

    /// Reads an approval; nil for a row of nulls.
    fileprivate init?(ifAny row: Row) throws(PostgresError) {
        guard let _: PolicyApprovalID = try row["id"] else { return nil }
        try self.init(row)
    }
}
