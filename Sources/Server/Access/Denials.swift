import Contract
import Domain

extension Backend {
    /// Refuses a member what the role matrix denies them and puts that on their family's trail: for operations that
    /// write nothing else.
    func refuse(_ caller: Caller, _ member: Member, _ kind: String, _ denial: Denial) async throws -> Never {
        let error = APIError(.authorizationDenied, denial.message)
        let _: NoAnswer = try await ledger.write(caller, in: member.familyID) { queries in
            let member = try await access.member(caller, of: member.familyID, queries)
            return .refuse(
                Act(
                    kind: kind, basis: .rightsUnchanged(since: member.seq), actor: member.pseudonym,
                    details: ["reason": denial.rawValue], stampedRows: 0),
                error)
        }
        throw error
    }
}
