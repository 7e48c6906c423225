import Contract
import Domain
import JSON

/// A change to a policy, as a client sends it.
struct PolicyChange {
    /// The former names of limits, each with its present name. A change that uses a former name is refused, because the
    /// value would have no effect.
    static let formerNames = ["daily_cap": "daily_nag_cap", "cooldown_minutes": "pushback_cooldown_minutes"]

    private let constraints: [JSONObject.Member]
    private let owners: [UserID]?

    /// Creates a change, and validates its values.
    /// - Throws: 422 `POLICY_INVALID_VALUE` for a value that no policy may have, and for owners, if there are any, who
    ///   are not one or two different people.
    init(_ update: PolicyUpdate) throws(APIError) {
        constraints = update.constraints?.members ?? []
        owners = update.owners
        if let owners, !(1...2).contains(owners.count) || Set(owners).count != owners.count {
            throw APIError.policyHasTooManyOwners
        }
        // Whether a value is valid does not depend on the policy, so any terms can be used to find out.
        _ = try applied(to: PolicyTerms(owners: [], limits: .standard, clientValues: JSONObject()))
    }

    /// Returns the terms after the change.
    /// - Throws: 422 `POLICY_INVALID_VALUE` if they would have too many names.
    func applied(to terms: PolicyTerms) throws(APIError) -> PolicyTerms {
        var document = terms.constraints
        for member in constraints { document[member.key] = member.value == .null ? JSONValue?.none : member.value }
        return try PolicyTerms(owners: owners ?? terms.owners, constraints: document)
    }
}
