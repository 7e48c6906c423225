import Audit
import Contract
import Domain
import Postgres

extension Families {
    /// Replaces the family's invite code or child code, for guardians. The old code stops working; members stay. The
    /// other guardians are notified of a new child code, because children need it for their next sign-in.
    func renewCode(_ caller: Caller, _ call: Call<FamilyPath, CodeRenewal>) async throws -> FamilyResponse {
        let (family, code) = (call.parameters.familyID, call.body.code)
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            if let denial = member.denial(of: .editFamily) {
                return .denied(.familyCodeRenewDenied, to: member, denial)
            }
            var answer = try await response(for: member, queries)
            switch code {
            case .invite: answer.inviteCode = makeCode()
            case .child: answer.childCode = makeCode()
            }
            let count = DailyCount(limit: .familyCodeRenewals, user: member.userID)
            var act = Act(
                kind: .familyCodeRenewed, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                resource: family.retyped(), details: ["code": code.rawValue], changesRights: true, stampedRows: 0,
                statements: [
                    FamilyStatements.setCodes(invite: answer.inviteCode, child: answer.childCode),
                    try await count.checkedIncrement(at: caller.now, queries),
                ])
            if code == .child {
                act.statements.append(
                    DeliveryStatements.insert(.childCodeRenewed, toGuardiansBesides: [member.userID], at: caller.now))
            }
            return .perform(act, answer)
        }
    }
}
