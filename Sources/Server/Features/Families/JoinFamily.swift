import Audit
import Contract
import Domain
import Postgres

extension Families {
    /// Makes the caller a participant of the family with that code. Somebody under 13 who waits for a guardian becomes
    /// a child, once the family consents to children's accounts.
    package func join(_ caller: Caller, _ call: Call<NoParameters, JoinRequest>) async throws -> MemberResponse {
        try await join(caller, code: call.body.inviteCode, of: nil)
    }

    /// Makes the caller a member of the family in the path, if the code is that family's.
    func joinByID(_ caller: Caller, _ call: Call<FamilyPath, JoinRequest>) async throws -> MemberResponse {
        try await join(caller, code: call.body.inviteCode, of: call.parameters.familyID)
    }

    private func join(_ caller: Caller, code: String, of expectedFamily: FamilyID?) async throws -> MemberResponse {
        let invitation = FamilyStatements.invitation(code, for: caller.userID)
        _ = try await services.access.account(caller, acceptsWaiting: true, services.database)
        let row = try await services.database.query(invitation).first
        guard let family: FamilyID = try row?["id"], expectedFamily == nil || expectedFamily == family else {
            throw APIError.inviteCodeIsUnknown
        }
        return try await mappingMembershipConflict {
            try await services.ledger.write(caller, in: family) { queries in
                // The sequence number is read first: if a later read sees newer rows, the act's basis no longer holds.
                // The code is checked again, because it may have been replaced since the first read.
                let invitationRow = try await queries.query(invitation).first
                guard let invitationRow, try invitationRow["id"] == family else { throw APIError.inviteCodeIsUnknown }
                let account = try await services.access.account(caller, acceptsWaiting: true, queries)
                guard account.family == nil else { throw APIError.personHasFamily }
                let seq: Int64 = try invitationRow["seq"]
                func denied(_ reason: String, _ refusal: APIError) -> Decision<MemberResponse> {
                    .refuse(
                        .denial(
                            .memberJoinDenied, basis: .rightsUnchanged(since: seq), actor: account.pseudonym,
                            reason: reason),
                        refusal)
                }
                if account.isAdmin {
                    let denial = Denial.administratorJoinsNoFamily
                    return denied(denial.rawValue, APIError(.authorizationDenied, denial))
                }
                // Somebody whom a guardian has blocked gets the same error as for an unknown code.
                if try invitationRow["is_blocked"] {
                    return denied(Denial.blocked.rawValue, APIError.inviteCodeIsUnknown)
                }
                if account.isWaiting, try await !allowsChildAccounts(for: account.id, in: family, queries) {
                    return denied("no_consent", APIError.childrenNeedConsent)
                }
                if let denial = try await denialOfNewMember(of: family, at: caller.now, queries) {
                    return denied(denial.rawValue, APIError(.policyForbidden, denial))
                }
                let role: FamilyRole = account.isWaiting ? .child : .participant
                let act = Act(
                    kind: .memberJoined, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                    subject: account.pseudonym, details: ["role": role.rawValue, "user": account.id.description],
                    changesRights: true, stampedRows: 0,
                    statements: admission(of: account.id, as: role, at: caller.now, isWaiting: account.isWaiting))
                return .perform(
                    act,
                    MemberResponse(
                        userID: account.id, familyID: family, role: role, status: .active, joinedAt: caller.now))
            }
        }
    }
}
