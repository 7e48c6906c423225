import Audit
import Contract
import Domain
import JSON
import Postgres

/// A policy in force and its open proposal, read from `PolicyStatements.columns`.
struct CurrentPolicy {
    /// A change that waits for approvals.
    struct Proposal {
        let id: PolicyProposalID
        let proposedBy: UserID
        let proposedAt: Timestamp
        let terms: PolicyTerms
        /// The people who have approved the proposal, its proposer included.
        var approvers: Set<UserID>
    }

    let id: PolicyID
    let familyID: FamilyID
    var version: Int
    /// The ledger's sequence number of the last change of the policy or its proposal.
    var changeSeq: Int64
    var terms: PolicyTerms
    /// Whether one of two owners has left and no new co-owner has been agreed on.
    var awaitsCoOwner: Bool
    /// The owner who left, while a new co-owner is awaited; nil otherwise. Also nil for an owner who left before the
    /// column `left_owner` existed.
    var leftOwner: UserID?
    var proposal: Proposal?

    /// Returns whether the terms name a new co-owner in place of one who left.
    func replacesCoOwner(by new: PolicyTerms) -> Bool { awaitsCoOwner && new.owners.count > 1 }

    /// Returns the people who have to approve new terms before they are in force: every present owner and, while a new
    /// co-owner is awaited, every owner whom the new terms name.
    func requiredApprovers(of new: PolicyTerms) -> Set<UserID> {
        Set(terms.owners).union(awaitsCoOwner ? new.owners : [])
    }

    /// The time that must pass between a proposal that replaces a co-owner who left and its last approval. An
    /// owner who removed the other could control the new co-owner's account as well, so the guardians need time to
    /// object.
    static let coOwnerReplacementDelay = Timestamp.Span.hours(72)

    /// Checks a proposal before its last approval: if it replaces a co-owner who left, `coOwnerReplacementDelay` must
    /// have passed since it was made.
    /// - Throws: 409 with the earliest time if the delay has not passed.
    func requireCoOwnerReplacementDelay(at now: Timestamp) throws(APIError) {
        guard let proposal, replacesCoOwner(by: proposal.terms) else { return }
        let earliestApproval = proposal.proposedAt + Self.coOwnerReplacementDelay
        guard now < earliestApproval else { return }
        throw APIError.approvalIsTooEarly(earliest: earliestApproval)
    }

    /// The people who may approve: those whose approval the proposal needs; without a proposal, the owners.
    var permittedApprovers: Set<UserID> { requiredApprovers(of: proposal?.terms ?? terms) }

    /// Returns the policy after an act that puts new terms in force.
    func changed(to new: PolicyTerms, by seq: Int64) -> CurrentPolicy {
        var policy = self
        policy.version += 1
        policy.changeSeq = seq
        policy.awaitsCoOwner = awaitsCoOwner && new.owners.count < 2
        policy.leftOwner = policy.awaitsCoOwner ? leftOwner : nil
        policy.terms = new
        policy.proposal = nil
        return policy
    }

    var response: PolicyResponse {
        PolicyResponse(
            id: id, familyID: familyID, owners: terms.owners, strategyTemplate: .friendlyReminder,
            constraints: terms.constraints, status: "active", version: version, etag: entityTag,
            proposal: proposal.map {
                PolicyProposal(
                    id: $0.id, proposedBy: $0.proposedBy, proposedAt: $0.proposedAt, owners: $0.terms.owners,
                    constraints: $0.terms.constraints, approvedBy: $0.approvers.sorted())
            })
    }

    /// A strong entity tag, with its quotes.
    var entityTag: String {
        let state = sha256(Array("\(id) \(changeSeq)".utf8))
        return "\"\(base64URL(Array(state.prefix(16))))\""
    }

    /// Requires that the request's `If-Match`, if it has one, names this state of the policy.
    /// - Throws: 412 if it names another one.
    func requireIfMatch(of caller: Caller) throws(APIError) {
        guard let tags = caller.context.ifMatch, !IfMatch.matches(entityTag, in: tags) else { return }
        throw APIError.policyHasChanged
    }
}

extension CurrentPolicy {
    init(_ row: Row) throws {
        id = try row["id"]
        familyID = try row["family_id"]
        version = try row["version"]
        changeSeq = try row["changed_by"]
        awaitsCoOwner = try row["awaits_co_owner"]
        leftOwner = try row["left_owner"]
        terms = try PolicyTerms(
            owners: try row.list("owners") ?? [], limits: try FamilyPolicy(row),
            clientValues: Self.jsonObject(try row["constraints"]))
        proposal = try Proposal(ifAny: row)
    }

    /// Reads a policy; nil for a row of nulls.
    init?(ifAny row: Row) throws {
        guard let _: PolicyID = try row["id"] else { return nil }
        try self.init(row)
    }

    /// Parses a document of constraints.
    static func jsonObject(_ text: String) throws -> JSONObject {
        guard let object = (try? JSONValue(parsing: Array(text.utf8).span))?.objectValue else {
            throw PostgresError.unexpectedShape("a policy's constraints")
        }
        return object
    }
}

extension CurrentPolicy.Proposal {
    /// Reads the proposal of a row; nil where nothing is proposed.
    fileprivate init?(ifAny row: Row) throws {
        guard let id: PolicyProposalID = try row["proposal_id"] else { return nil }
        self.id = id
        proposedBy = try row["proposed_by"]
        proposedAt = try row["proposed_at"]
        terms = try PolicyTerms(
            owners: try row.list("proposed_owners") ?? [],
            constraints: CurrentPolicy.jsonObject(try row["proposed_constraints"]))
        approvers = Set(try row.list("approvers") ?? [])
    }
}

extension FamilyPolicy {
    /// Reads the columns of a family's policy; null means the default.
    init(_ row: Row) throws {
        try self.init(
            dailyNagCap: try row["daily_cap"], maxSnoozeMinutes: try row["max_snooze_minutes"],
            pointsMultiplier: try row["points_multiplier"], maxPushBacksPerNag: try row["max_pushback"],
            pushBackCooldownMinutes: try row["cooldown_minutes"], allowsThirdPartyModels: try row["third_party_models"])
    }
}
