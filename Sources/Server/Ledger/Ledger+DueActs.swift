import Contract
import Domain
import Postgres

extension Ledger {
    /// Performs an act of the server's own, unless nothing is left to do.
    /// - Parameter decide: returns the act; nil if another instance or a person has done it before.
    /// - Returns: whether this call performed it.
    func performIfDue(
        _ context: CallContext, in family: FamilyID, _ decide: (any Queries) async throws -> Act?
    ) async throws -> Bool {
        let answer: StatusAnswer = try await write(context, in: family) { queries in
            guard let act = try await decide(queries) else { return .answer(StatusAnswer(status: "done before")) }
            return .perform(act, StatusAnswer(status: "done"))
        }
        return answer.status == "done"
    }
}
