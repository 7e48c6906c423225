import Audit
import Contract
import Domain
import Postgres
import SQL

/// The end of a membership: by leaving, by removal, or with the account.
struct Departure<Answer: WireContent> {
    /// The kind of its audit entry, and of a refusal.
    let kind: AuditKind
    let deniedKind: AuditKind
    /// The reason for which a member may not end a membership. It is asked before the person is read, and again with
    /// the person's record.
    let denial: (Member, MemberRecord?) -> Denial?
    /// Whether the last guardian may go when the family has no other member.
    var allowsLastGuardian = false
    /// Whether a guardian ends somebody else's membership.
    var isRemoval = false
    /// The part of the act that ends sessions.
    let endSessions: (UserID) -> SQL
    /// The statements that only this kind of departure adds to the act, such as the deletion of the account.
    var statements: [SQL] = []
    let answer: (MemberRecord) -> Answer
}

extension Families {
    /// Removes a member, for guardians. A guardian who removes themselves leaves.
    package func removeMember(_ caller: Caller, _ call: Call<MemberPath, NoBody>) async throws -> MemberResponse {
        let path = call.parameters
        var departure = ending(
            .memberRemoved, or: .memberRemoveDenied, in: path.familyID, at: caller.now
        ) { member, _ in member.denial(of: .removeMember) }
        departure.isRemoval = path.userID != caller.userID
        return try await depart(caller, path.userID, from: path.familyID, by: departure)
    }

    /// Ends the caller's own membership. Not for a child whose account was made in the family: a guardian decides that.
    func leave(_ caller: Caller, _ call: Call<FamilyPath, NoBody>) async throws -> MemberResponse {
        let family = call.parameters.familyID
        return try await depart(
            caller, caller.userID, from: family,
            by: ending(.memberLeft, or: .memberLeaveDenied, in: family, at: caller.now) { member, person in
                RoleMatrix.denialOfLeaving(
                    by: MemberState(role: member.role), isFamilyAccount: person?.isFamilyAccount ?? false)
            })
    }

    private func ending(
        _ kind: AuditKind, or deniedKind: AuditKind, in family: FamilyID, at now: Timestamp,
        denial: @escaping (Member, MemberRecord?) -> Denial?
    ) -> Departure<MemberResponse> {
        Departure(
            kind: kind, deniedKind: deniedKind, denial: denial,
            endSessions: { SessionStatements.revokeChildSessions(of: $0, at: now) },
            answer: { person in
                MemberResponse(
                    userID: person.id, familyID: family, role: person.role, status: .removed, joinedAt: person.joinedAt)
            })
    }

    /// Ends a membership and everything that depends on it in one act: access, relationships, a child's sign-in and
    /// sessions, consents given in the family, and open nags to the person. Open nags of connections that depend on the
    /// membership are cancelled before, in their own acts. The trigger `young_account_waits` makes an account of
    /// somebody under 13 wait for a guardian again. Codes and PINs that the person may know are replaced (`accessRevocation`).
    /// If there are more open nags than one act can cancel, some are cancelled before, in acts of their own; if the
    /// process dies in between, the person is still a member.
    func depart<Answer>(
        _ caller: Caller, _ user: UserID, from family: FamilyID, by departure: Departure<Answer>
    ) async throws -> Answer {
        let nags = NagStatements.openOverConnections(toChild: user, orSharedBy: user)
        while true {
            let departed = try await ConnectionNagCancellation(services).before(
                .departedHasNoConnectionNag, nags, caller.context
            ) { () -> Answer? in
                try await services.ledger.write(caller, in: family) { queries in
                    try await decide(caller, user, from: family, departure, isLast: true, queries)
                }
            }
            if let departed { return departed }
            // Without the idempotency key: it belongs to the last act, whose answer is stored.
            let _: Answer? = try await services.ledger.write(caller.context, in: family) { queries in
                try await decide(caller, user, from: family, departure, isLast: false, queries)
            }
        }
    }

    /// - Parameter isLast: whether to end the membership; the answer is nil if one act cannot cancel all open nags.
    ///   Otherwise the act only cancels some of them.
    private func decide<Answer>(
        _ caller: Caller, _ user: UserID, from family: FamilyID, _ departure: Departure<Answer>, isLast: Bool,
        _ queries: any Queries
    ) async throws -> Decision<Answer?> {
        let member = try await services.access.member(caller, of: family, queries)
        if let denial = departure.denial(member, nil) { return .denied(departure.deniedKind, to: member, denial) }
        let person = try await self.member(user, of: family, queries)
        if let denial = departure.denial(member, person) {
            return .denied(departure.deniedKind, to: member, denial, subject: person.pseudonym)
        }
        let members = try await queries.query(MembershipStatements.memberCounts(of: family, besides: user)).one()
        let isAlone = try members["members"] == 1
        if !(departure.allowsLastGuardian && isAlone),
            let denial = RoleMatrix.denialOfDeparture(
                of: person.role, activeGuardians: 1 + (try members["other_guardians"] as Int))
        {
            throw APIError(.preconditionFailed, denial)
        }
        let open: Int = try await queries.query(NagStatements.countOpen(of: user, in: family)).one()["count"]
        let closing = min(open, NagStatements.cancelBatchSize)
        if isLast, open > closing { return .answer(nil) }

        var act = Act(
            kind: isLast ? departure.kind : .nagsCancelled, basis: .nothingChanged(since: member.seq),
            actor: member.pseudonym, subject: person.pseudonym, details: ["cancelled_nags": "\(closing)"],
            changesRights: isLast, stampedRows: closing)
        if closing > 0 { act.statements = NagStatements.cancelOpen(of: user, in: family, at: caller.now) }
        guard isLast else { return .perform(act, nil) }
        act.details["role"] = person.role.rawValue
        act.statements += [
            MembershipStatements.markRemoved(user, at: caller.now), MembershipStatements.revokeRelationships(user),
            CredentialStatements.delete(of: user), departure.endSessions(user),
            ConsentStatements.revokeAll(of: user, at: caller.now), PolicyStatements.removeOwner(of: user),
            DeviceStatements.deleteAll(of: user), ConstraintStatements.deleteAll(of: user),
        ]
        act.statements += DraftStatements.endOnDeparture(of: user, at: caller.now)
        act.statements +=
            accessRevocation(person, isRemoval: departure.isRemoval, at: caller.now) + departure.statements
        return .perform(act, departure.answer(person))
    }

    /// Returns the statements that shut out somebody who may know the family's codes: any member who is removed, and any
    /// guardian who leaves. The family gets new codes and its guardians are notified. A guardian could set the children's
    /// PINs, so when one leaves, the children's sessions end too.
    private func accessRevocation(_ person: MemberRecord, isRemoval: Bool, at now: Timestamp) -> [SQL] {
        guard isRemoval || person.role == .guardian else { return [] }
        let renewal = [
            FamilyStatements.setCodes(invite: newCode(), child: newCode()),
            DeliveryStatements.insert(.codesRenewed, toGuardiansBesides: [person.id], at: now),
        ]
        guard person.role == .guardian else { return renewal }
        return renewal + [SessionStatements.revokeChildSessions(besides: person.id, at: now)]
    }
}
