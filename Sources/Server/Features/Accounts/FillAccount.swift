import Audit
import Contract
import Domain
import Postgres
import SQL

extension Accounts {
    /// Returns the caller's account, after setting the name and the date of birth where the account has none. Existing
    /// values stay.
    ///
    /// A person whose account was made in a family cannot set an address or a date of birth this way, because both
    /// decide what the family's guardians may do. A date of birth of somebody under 13 is refused too: only a guardian
    /// makes such accounts.
    func fillMissingProfile(
        _ caller: Caller, _ call: Call<NoParameters, AccountCreate>
    ) async throws -> AccountResponse {
        let body = call.body
        let sentDateOfBirth = try body.dateOfBirth?.pastDate(at: caller.now)
        return try await services.writeToOwnChain(caller) { account, seq, queries in
            let row = try await queries.query(AccountStatements.profile(caller.userID)).onlyRow()
            var answer = AccountResponse(
                id: caller.userID, email: account.email, displayName: account.displayName, status: try row["status"],
                createdAt: try row["created_at"])
            let hasDateOfBirth: Bool = try row["has_date_of_birth"]
            let dateOfBirth = hasDateOfBirth ? nil : sentDateOfBirth
            if account.email == nil, body.email != nil || dateOfBirth != nil {
                throw APIError.onlyGuardianChangesProfile
            }
            if let dateOfBirth, dateOfBirth.isUnder13(on: UniversalTime().local(caller.now).date) {
                throw APIError.under13NeedsGuardian
            }
            let name = account.displayName == nil ? body.displayName : nil
            if name == nil, dateOfBirth == nil { return .answer(answer) }
            answer.displayName = account.displayName ?? name
            let filledFields = [
                name.map { _ in "display_name" }, dateOfBirth.map { _ in "date_of_birth" },
            ].compactMap(\.self)
            let act = Act(
                kind: .accountChanged, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: account.pseudonym, details: ["filled": filledFields.joined(separator: ",")], stampedRows: 0,
                statements: [AccountStatements.fillMissing(caller.userID, name: name, dateOfBirth: dateOfBirth)])
            return .perform(act, answer)
        }
    }
}
