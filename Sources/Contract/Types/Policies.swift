import Domain
import JSON

/// Changes some of a policy and keeps the rest.
public struct PolicyUpdate: Hashable, WireObject {
    public var strategyTemplate: StrategyTemplate?
    /// Merged name by name; null removes a name, and brings a limit back to its standard.
    public var constraints: JSONObject?
    /// One or two guardians.
    public var owners: [UserID]?

    public init(strategyTemplate: StrategyTemplate? = nil, constraints: JSONObject? = nil, owners: [UserID]? = nil) {
        self.strategyTemplate = strategyTemplate
        self.constraints = constraints
        self.owners = owners
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        strategyTemplate = try fields.optional("strategy_template")
        constraints = try fields.optional("constraints")
        owners = try fields.optional("owners")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("strategy_template", strategyTemplate)
            json.fieldIfPresent("constraints", constraints)
            json.fieldIfPresent("owners", owners)
        }
    }
}

/// A family's policy in force.
public struct PolicyResponse: Hashable, WireObject {
    public var id: PolicyID
    public var familyID: FamilyID
    public var owners: [UserID]
    public var strategyTemplate: StrategyTemplate
    /// Scalars: every limit that the server obeys, and what clients have stored besides.
    public var constraints: JSONObject
    public var status: String
    /// The version: one more with every change that the owners made.
    public var version: Int
    public var etag: String
    /// The change that waits for approval; nil where nothing is proposed.
    public var proposal: PolicyProposal?

    public init(
        id: PolicyID, familyID: FamilyID, owners: [UserID], strategyTemplate: StrategyTemplate,
        constraints: JSONObject, status: String, version: Int, etag: String, proposal: PolicyProposal?
    ) {
        self.id = id
        self.familyID = familyID
        self.owners = owners
        self.strategyTemplate = strategyTemplate
        self.constraints = constraints
        self.status = status
        self.version = version
        self.etag = etag
        self.proposal = proposal
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        familyID = try fields.required("family_id")
        owners = try fields.required("owners")
        strategyTemplate = try fields.required("strategy_template")
        constraints = try fields.required("constraints")
        status = try fields.required("status")
        version = try fields.required("version")
        etag = try fields.required("etag")
        proposal = try fields.optional("proposal")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("family_id", familyID)
            json.field("owners", owners)
            json.field("strategy_template", strategyTemplate)
            json.field("constraints", constraints)
            json.field("status", status)
            json.field("version", version)
            json.field("etag", etag)
            json.field("proposal", proposal)
        }
    }
}

/// A change of a policy that waits for its owners: the whole policy as it would be.
public struct PolicyProposal: Hashable, WireObject {
    public var id: PolicyProposalID
    public var proposedBy: UserID
    public var proposedAt: Timestamp
    public var owners: [UserID]
    public var constraints: JSONObject
    /// The people who have approved it; the proposer has by proposing it.
    public var approvedBy: [UserID]

    public init(
        id: PolicyProposalID, proposedBy: UserID, proposedAt: Timestamp, owners: [UserID], constraints: JSONObject,
        approvedBy: [UserID]
    ) {
        self.id = id
        self.proposedBy = proposedBy
        self.proposedAt = proposedAt
        self.owners = owners
        self.constraints = constraints
        self.approvedBy = approvedBy
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        proposedBy = try fields.required("proposed_by")
        proposedAt = try fields.required("proposed_at")
        owners = try fields.required("owners")
        constraints = try fields.required("constraints")
        approvedBy = try fields.required("approved_by")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("proposed_by", proposedBy)
            json.field("proposed_at", proposedAt)
            json.field("owners", owners)
            json.field("constraints", constraints)
            json.field("approved_by", approvedBy)
        }
    }
}

/// Approves what is proposed for a policy.
public struct ApprovalCreate: Hashable, WireObject {
    public static let longestComment = 2_000

    /// At most 2,000 characters.
    public var comment: String?

    public init(comment: String? = nil) {
        self.comment = comment
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        comment = try fields.optionalText("comment", 0...Self.longestComment)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("comment", comment)
        }
    }
}

/// An owner's approval.
public struct ApprovalResponse: Hashable, WireObject {
    public var id: PolicyApprovalID
    public var policyID: PolicyID
    public var approverID: UserID
    public var approvedAt: Timestamp
    public var comment: String?

    public init(
        id: PolicyApprovalID, policyID: PolicyID, approverID: UserID, approvedAt: Timestamp, comment: String?
    ) {
        self.id = id
        self.policyID = policyID
        self.approverID = approverID
        self.approvedAt = approvedAt
        self.comment = comment
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        policyID = try fields.required("policy_id")
        approverID = try fields.required("approver_id")
        approvedAt = try fields.required("approved_at")
        comment = try fields.optional("comment")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("policy_id", policyID)
            json.field("approver_id", approverID)
            json.field("approved_at", approvedAt)
            json.field("comment", comment)
        }
    }
}
