import Audit
import Contract
import Domain
import Postgres
import SQL

extension Accounts {
    /// Answers the caller's account, after filling what is empty in it: the name and the day of birth. What is there
    /// already stays as it is.
    ///
    /// An account that was made in a family gets neither an address nor a day of birth by itself, because both decide
    /// what its guardians may do; and no account becomes one of somebody under 13, which only a guardian makes.
    func fill(_ caller: Caller, _ call: Call<NoParameters, AccountCreate>) async throws -> AccountResponse {
        let body = call.body
        let given = try body.dateOfBirth?.past(at: caller.now)
        let chain = try await services.access.account(caller, services.database).family ?? .outside
        return try await services.ledger.write(caller, in: chain) { queries in
            let seq = try await Ledger.newestNumber(of: chain, queries)
            let account = try await services.access.account(caller, queries)
            let row = try await queries.query(AccountStatements.profile(caller.userID)).one()
            var answer = AccountResponse(
                id: caller.userID, email: account.email, displayName: account.displayName, status: try row["status"],
                createdAt: try row["created_at"])
            let hasBirth: Bool = try row["has_date_of_birth"]
            let birth = hasBirth ? nil : given
            if account.email == nil, body.email != nil || birth != nil {
                throw APIError.guardianKeepsProfile
            }
            if let birth, birth.isUnder13(on: UniversalTime().local(caller.now).date) {
                throw APIError.under13NeedsGuardian
            }
            let name = account.displayName == nil ? body.displayName : nil
            if name == nil, birth == nil { return .answer(answer) }
            answer.displayName = account.displayName ?? name
            let filled = [name.map { _ in "display_name" }, birth.map { _ in "date_of_birth" }].compactMap(\.self)
            let act = Act(
                kind: .accountChanged, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: account.pseudonym, details: ["filled": filled.joined(separator: ",")], stampedRows: 0,
                statements: [AccountStatements.fill(caller.userID, name: name, dateOfBirth: birth)])
            return .perform(act, answer)
        }
    }
}
