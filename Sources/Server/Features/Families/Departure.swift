import Contract
import Domain
import Postgres

extension Families {
    /// Ends a membership, on a guardian's word.
    func removeMember(_ caller: Caller, _ call: Call<MemberPath, NoBody>) async throws -> MemberResponse {
        let path = call.parameters
        return try await depart(caller, path.userID, from: path.familyID, "member.removed") { member in
            member.denial(of: .removeMember).map { .denied("member.remove.denied", to: member, $0) }
        }
    }

    /// Ends the caller's own membership.
    func leave(_ caller: Caller, _ call: Call<FamilyPath, NoBody>) async throws -> MemberResponse {
        try await depart(caller, caller.userID, from: call.parameters.familyID, "member.left") { _ in nil }
    }

    /// Everything that hangs on the membership ends with it, in one act: access, relationships, a child's login and
    /// sessions, consents given in the family, open nags to the person. Only when there are more open nags than an act
    /// can close are some closed before, in acts of their own; if the process dies between, the person is still a
    /// member.
    private func depart(
        _ caller: Caller, _ user: UserID, from family: FamilyID, _ kind: String,
        refusal: (Member) -> Decision<MemberResponse?>?
    ) async throws -> MemberResponse {
        while true {
            let departed: MemberResponse? = try await backend.ledger.write(caller, in: family) { queries in
                try await departure(caller, user, from: family, kind, refusal, isLast: true, queries)
            }
            if let departed { return departed }
            // Without the client's name for the write: that belongs to the last act, whose answer it remembers.
            let _: MemberResponse? = try await backend.ledger.write(caller.context, in: family) { queries in
                try await departure(caller, user, from: family, kind, refusal, isLast: false, queries)
            }
        }
    }

    /// - Parameter isLast: whether to end the membership, answering nil when there is too much to close at once; or
    ///   else to close a part of it.
    private func departure(
        _ caller: Caller, _ user: UserID, from family: FamilyID, _ kind: String,
        _ refusal: (Member) -> Decision<MemberResponse?>?, isLast: Bool, _ queries: any Queries
    ) async throws -> Decision<MemberResponse?> {
        let member = try await backend.access.member(caller, of: family, queries)
        if let refusal = refusal(member) { return refusal }
        let person = try await self.member(user, of: family, queries)
        let guardians: Int = try await queries.query(MembershipStatements.guardians(of: family)).one()["count"]
        if let denial = RoleMatrix.denialOfDeparture(of: person.role, activeGuardians: guardians) {
            throw APIError(.preconditionFailed, denial.message)
        }
        let open: Int = try await queries.query(NagStatements.countOpen(of: user, in: family)).one()["count"]
        let closing = min(open, NagStatements.cancelledAtOnce)
        if isLast, open > closing { return .answer(nil) }

        var act = Act(
            kind: isLast ? kind : "nags.cancelled", basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            subject: person.pseudonym, details: ["cancelled_nags": "\(closing)"], changesRights: isLast,
            stampedRows: closing)
        if closing > 0 { act.rows = NagStatements.cancelOpen(of: user, in: family, at: caller.now) }
        guard isLast else { return .perform(act, nil) }
        act.details["role"] = person.role.rawValue
        act.rows += [
            MembershipStatements.end(user, at: caller.now), MembershipStatements.unrelate(user),
            CredentialStatements.delete(of: user), SessionStatements.revokeChildSessions(of: user, at: caller.now),
            ConsentStatements.revokeAll(of: user, at: caller.now), FamilyStatements.handOverPolicies(of: user),
        ]
        return .perform(
            act,
            MemberResponse(
                userID: user, familyID: family, role: person.role, status: .removed, joinedAt: person.joinedAt))
    }
}
