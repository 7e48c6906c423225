import Contract
import Domain
import JSON

/// A change of a policy, as a client sends it.
struct PolicyChange {
    /// Names of limits that are no names of the API, and what they are called there: stored, they would do nothing.
    static let formerNames = ["daily_cap": "daily_nag_cap", "cooldown_minutes": "pushback_cooldown_minutes"]

    private let constraints: [JSONObject.Member]
    private let owners: [UserID]?

    /// - Throws: 422 unless the owners, where they are given, are one or two different people.
    init(_ update: PolicyUpdate) throws(APIError) {
        constraints = update.constraints?.members ?? []
        owners = update.owners
        guard let owners else { return }
        guard (1...2).contains(owners.count), Set(owners).count == owners.count else {
            throw APIError(.policyInvalidValue, "owners must be one or two guardians.", field: "owners")
        }
    }

    /// The terms after the change.
    /// - Throws: 422 `POLICY_INVALID_VALUE` for a value that no policy may have.
    func applied(to terms: PolicyTerms) throws(APIError) -> PolicyTerms {
        var document = terms.constraints
        for member in constraints { document[member.key] = member.value == .null ? JSONValue?.none : member.value }
        return try PolicyTerms(owners: owners ?? terms.owners, constraints: document)
    }
}
