import Audit
import Contract
import Domain
import Postgres

extension Families {
    /// Makes the caller a participant of the family that gave out the code.
    func join(_ caller: Caller, _ call: Call<NoParameters, JoinRequest>) async throws -> MemberResponse {
        try await join(caller, code: call.body.inviteCode, of: nil)
    }

    /// The same, when the code is that family's.
    func joinByID(_ caller: Caller, _ call: Call<FamilyPath, JoinRequest>) async throws -> MemberResponse {
        try await join(caller, code: call.body.inviteCode, of: call.parameters.familyID)
    }

    private static let unknownCode = APIError(.notFound, "No family has this invite code.")

    private func join(_ caller: Caller, code: String, of expected: FamilyID?) async throws -> MemberResponse {
        let invitation = FamilyStatements.invitation(code.uppercased())
        _ = try await backend.access.account(caller, backend.database)
        let row = try await backend.database.query(invitation).first
        guard let family: FamilyID = try row?["id"], expected == nil || expected == family else {
            throw Self.unknownCode
        }
        return try await admitting {
            try await backend.ledger.write(caller, in: family) { queries in
                // The number first: what is read after it can only be newer, and then the act is refused. The code may have
                // been replaced since it was looked up.
                let clock = try await queries.query(invitation).first
                guard let clock, try clock["id"] == family else { throw Self.unknownCode }
                let account = try await backend.access.account(caller, queries)
                guard account.family == nil else { throw Self.alreadyInFamily }
                let act = Act(
                    kind: "member.joined", basis: .nothingChanged(since: try clock["seq"]), actor: account.pseudonym,
                    subject: account.pseudonym, details: ["role": FamilyRole.participant.rawValue], changesRights: true,
                    stampedRows: 0, rows: admission(of: account.id, as: .participant, at: caller.now))
                return .perform(
                    act,
                    MemberResponse(
                        userID: account.id, familyID: family, role: .participant, status: .active, joinedAt: caller.now)
                )
            }
        }
    }
}
