import Contract
import Domain
import JSON

/// A change of a policy, as a client sends it.
struct PolicyChange {
    /// Former names of limits, with the present ones. They are refused, because a value stored under them would have no
    /// effect.
    static let formerNames = ["daily_cap": "daily_nag_cap", "cooldown_minutes": "pushback_cooldown_minutes"]

    private let constraints: [JSONObject.Member]
    private let owners: [UserID]?

    /// - Throws: 422 `POLICY_INVALID_VALUE` for a value that no policy may have, and unless the owners, where they are
    ///   given, are one or two different people.
    init(_ update: PolicyUpdate) throws(APIError) {
        constraints = update.constraints?.members ?? []
        owners = update.owners
        if let owners, !(1...2).contains(owners.count) || Set(owners).count != owners.count {
            throw APIError.policyHasTooManyOwners
        }
        // Which values are wrong does not depend on the policy, so any terms show it.
        _ = try applied(to: PolicyTerms(owners: [], limits: .standard, others: JSONObject()))
    }

    /// The terms after the change.
    /// - Throws: 422 `POLICY_INVALID_VALUE` when they would have too many names.
    func applied(to terms: PolicyTerms) throws(APIError) -> PolicyTerms {
        var document = terms.constraints
        for member in constraints { document[member.key] = member.value == .null ? JSONValue?.none : member.value }
        return try PolicyTerms(owners: owners ?? terms.owners, constraints: document)
    }
}
