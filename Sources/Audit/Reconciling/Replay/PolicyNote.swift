import Domain

/// A policy's values as entries record them.
public enum PolicyNote {
    /// The name of the detail with the policy's version.
    public static let versionName = "version"
    /// The name of the detail that says whether one of two owners has left and no new co-owner has been agreed on.
    public static let awaitsCoOwnerName = "awaits_co_owner"
    private static let othersName = "other_constraints"

    /// Returns the limits by their names in entries.
    /// - Parameter others: a digest of the policy's values that the server does not know; empty without any.
    public static func values(of limits: FamilyPolicy, others: String) -> [String: String] {
        var values = [othersName: others]
        for field in PolicyViolation.Field.allCases { values[field.rawValue] = limits.text(field) }
        return values
    }

    /// The limits that every family begins with.
    static let standard = values(of: .standard, others: "")

    /// Returns the limits in an entry's details. An entry of an earlier release lacks the value for models of third
    /// parties, which no family allowed then.
    static func values(in body: AuditBody) -> [String: String] {
        let optional = PolicyViolation.Field.thirdPartyModels.rawValue
        return Dictionary(
            uniqueKeysWithValues: standard.map { name, value in
                (name, body[name] ?? (name == optional ? value : ""))
            })
    }

    static func owners(in body: AuditBody) -> Set<Pseudonym> {
        Set((body["owners"] ?? "").split(separator: ",").compactMap { Pseudonym($0) })
    }
}

/// A proposal for a policy, and the people who have approved it.
public struct PolicyProposalNote: Sendable, Hashable {
    public let id: String
    /// The owners that it proposes; nil for an erased person.
    public let owners: Set<Pseudonym?>
    /// The limits, as the entries record them.
    public let values: [String: String]
    /// The people who have approved it, with the one who proposed it; nil for an erased person.
    public var approvers: Set<Pseudonym?>

    public init(id: String, owners: Set<Pseudonym?>, values: [String: String], approvers: Set<Pseudonym?>) {
        self.id = id
        self.owners = owners
        self.values = values
        self.approvers = approvers
    }

    /// Reads the proposal in an entry's details; nil where they name none.
    init?(_ body: AuditBody, by person: Pseudonym) {
        guard let id = body["proposal"] else { return nil }
        self.init(
            id: id, owners: Set(PolicyNote.owners(in: body)), values: PolicyNote.values(in: body),
            approvers: [person])
    }

    /// The proposed owners and limits and the approvers, in one line.
    public var text: String {
        let limits = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let people = [("owners", owners), ("approvers", approvers)].map { name, people in
            "\(name)=\(StateValue.people(Array(people)).description)"
        }
        return (people + limits).joined(separator: " ")
    }
}
