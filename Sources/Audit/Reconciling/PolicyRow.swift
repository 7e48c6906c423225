import Domain

/// A family's policy, with what is proposed for it.
public struct PolicyRow: Sendable {
    public var id: PolicyID
    public var owners: [Pseudonym?]
    /// Whether it is the active default policy.
    public var isInForce: Bool
    /// The values that entries record: the limits, `version` and `awaits_co_owner`.
    public var values: [String: String]
    public var proposal: PolicyProposalRow?

    public init(
        id: PolicyID, owners: [Pseudonym?], isInForce: Bool, values: [String: String], proposal: PolicyProposalRow?
    ) {
        self.id = id
        self.owners = owners
        self.isInForce = isInForce
        self.values = values
        self.proposal = proposal
    }
}

/// The proposal for a policy, and the people who have approved it.
public struct PolicyProposalRow: Sendable, Hashable {
    public var id: String
    public var owners: Set<Pseudonym?>
    /// The limits, as the entries record them.
    public var values: [String: String]
    public var approvers: Set<Pseudonym?>

    public init(id: String, owners: Set<Pseudonym?>, values: [String: String], approvers: Set<Pseudonym?>) {
        self.id = id
        self.owners = owners
        self.values = values
        self.approvers = approvers
    }
}

extension PolicyRow {
    static let versionName = "version"
    static let awaitsCoOwnerName = "awaits_co_owner"
    private static let othersName = "other_constraints"

    /// Limits by the names of entries.
    /// - Parameter others: a digest of what the server does not know; empty for nothing.
    public static func fieldTexts(of limits: FamilyPolicy, others: String) -> [String: String] {
        var values = [othersName: others]
        for field in PolicyViolation.Field.allCases { values[field.rawValue] = limits.text(field) }
        return values
    }

    /// The values of a policy in force.
    public static func fieldTexts(
        of limits: FamilyPolicy, others: String, version: Int64, awaitsCoOwner: Bool
    ) -> [String: String] {
        var values = fieldTexts(of: limits, others: others)
        values[versionName] = "\(version)"
        values[awaitsCoOwnerName] = "\(awaitsCoOwner)"
        return values
    }

    /// The values that every family begins with.
    public static let standard = fieldTexts(of: .standard, others: "", version: 1, awaitsCoOwner: false)

    /// Returns the limits in an entry's details. An entry of an earlier release lacks the limit on third parties, which
    /// were not allowed then.
    static func limits(_ body: AuditBody) -> [String: String] {
        var values: [String: String] = [:]
        for (name, standard) in Self.fieldTexts(of: .standard, others: "") {
            values[name] = body[name] ?? (name == PolicyViolation.Field.thirdPartyModels.rawValue ? standard : nil)
        }
        return values
    }
}
