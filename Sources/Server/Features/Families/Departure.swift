import Audit
import Contract
import Domain
import Postgres
import SQL

/// The end of a membership: by leaving, by removal, or with the account.
struct Departure<Answer: WireContent> {
    /// The kind of the departure's audit entry.
    let kind: AuditKind
    /// The kind of a refusal's audit entry.
    let deniedKind: AuditKind
    /// Returns the reason for which the caller may not end the membership; nil if they may. It is called twice: with
    /// nil before the person's record is read, and then with the record.
    let denial: (Member, MemberRecord?) -> Denial?
    /// Whether the last guardian may leave if the family has no other member.
    var allowsLastMember = false
    /// Whether a guardian ends somebody else's membership.
    var isRemoval = false
    /// Returns the statement that ends the sessions of the person with that ID: all of them if the account is deleted,
    /// otherwise only those that began with a child code.
    let sessionRevocation: (UserID) -> SQL
    /// The statements that only this kind of departure adds to the act, such as the deletion of the account.
    var additionalStatements: [SQL] = []
    let answer: (MemberRecord) -> Answer
}

extension Families {
    /// Removes a member, for guardians. A guardian who removes themselves leaves.
    package func removeMember(_ caller: Caller, _ call: Call<MemberPath, NoBody>) async throws -> MemberResponse {
        let path = call.parameters
        var departure = makeDeparture(
            .memberRemoved, or: .memberRemoveDenied, in: path.familyID, at: caller.now
        ) { member, _ in member.denial(of: .removeMember) }
        departure.isRemoval = path.userID != caller.userID
        return try await depart(caller, path.userID, from: path.familyID, by: departure)
    }

    /// Ends the caller's own membership. A child whose account was made in the family may not leave: a guardian
    /// decides.
    func leave(_ caller: Caller, _ call: Call<FamilyPath, NoBody>) async throws -> MemberResponse {
        let family = call.parameters.familyID
        return try await depart(
            caller, caller.userID, from: family,
            by: makeDeparture(.memberLeft, or: .memberLeaveDenied, in: family, at: caller.now) { member, person in
                RoleMatrix.denialOfLeaving(
                    by: MemberState(role: member.role), isFamilyAccount: person?.isFamilyAccount ?? false)
            })
    }

    private func makeDeparture(
        _ kind: AuditKind, or deniedKind: AuditKind, in family: FamilyID, at now: Timestamp,
        denial: @escaping (Member, MemberRecord?) -> Denial?
    ) -> Departure<MemberResponse> {
        Departure(
            kind: kind, deniedKind: deniedKind, denial: denial,
            sessionRevocation: { SessionStatements.revokeChildSessions(of: $0, at: now) },
            answer: { person in
                MemberResponse(
                    userID: person.id, familyID: family, role: person.role, status: .removed, joinedAt: person.joinedAt)
            })
    }

    /// Ends a membership and everything that depends on it in one act: relationships, a child's sign-in and sessions,
    /// consents given in the family, ownership of policies, devices, the person's constraints and drafts, and open nags
    /// to the person. Codes that the person may know are replaced (`accessRevocation`). The trigger
    /// `young_account_waits` makes an account of somebody under 13 wait for a guardian again.
    ///
    /// Before that act, other acts cancel the open nags of connections that depend on the membership. They also cancel
    /// open nags to the person, if these are more than one act can cancel. If the process dies between these acts, the
    /// person is still a member.
    func depart<Answer>(
        _ caller: Caller, _ user: UserID, from family: FamilyID, by departure: Departure<Answer>
    ) async throws -> Answer {
        let recipients = NagStatements.openConnectionNagRecipients(dependingOnMembershipOf: user)
        while true {
            let answer = try await ConnectionNagCancellation(services).cancelAndRetry(
                onViolationOf: .departedHasNoConnectionNag, recipients, caller.context
            ) { () -> Answer? in
                try await services.ledger.write(caller, in: family) { queries in
                    try await decide(caller, user, from: family, departure, endsMembership: true, queries)
                }
            }
            if let answer { return answer }
            // Without the idempotency key: it belongs to the last act, whose answer is stored.
            let _: Answer? = try await services.ledger.write(caller.context, in: family) { queries in
                try await decide(caller, user, from: family, departure, endsMembership: false, queries)
            }
        }
    }

    /// Returns the decision about one act of a departure.
    /// - Parameter endsMembership: true for the act that ends the membership. If that act cannot cancel all open nags
    ///   to the person, nothing is written, and the answer is nil. False for an act that only cancels some of these
    ///   nags, with the answer nil.
    private func decide<Answer>(
        _ caller: Caller, _ user: UserID, from family: FamilyID, _ departure: Departure<Answer>, endsMembership: Bool,
        _ queries: any Queries
    ) async throws -> Decision<Answer?> {
        let member = try await services.access.member(caller, of: family, queries)
        if let denial = departure.denial(member, nil) { return .denied(departure.deniedKind, to: member, denial) }
        let person = try await self.member(user, of: family, queries)
        if let denial = departure.denial(member, person) {
            return .denied(departure.deniedKind, to: member, denial, subject: person.pseudonym)
        }
        let counts = try await queries.query(
            MembershipStatements.memberAndOtherGuardianCounts(of: family, besides: user)
        ).onlyRow()
        let isAlone = try counts["members"] == 1
        if !(departure.allowsLastMember && isAlone),
            let denial = RoleMatrix.denialOfDeparture(
                of: person.role, guardiansWithSignIn: 1 + (try counts["other_guardians"] as Int))
        {
            throw APIError(.preconditionFailed, denial)
        }
        let openCount: Int = try await queries.query(NagStatements.countOpen(of: user, in: family)).onlyRow()["count"]
        let cancelledCount = min(openCount, NagStatements.cancelBatchSize)
        if endsMembership, openCount > cancelledCount { return .answer(nil) }

        var act = Act(
            kind: endsMembership ? departure.kind : .nagsCancelled, basis: .nothingChanged(since: member.seq),
            actor: member.pseudonym, subject: person.pseudonym, details: ["cancelled_nags": "\(cancelledCount)"],
            changesRights: endsMembership, stampedRows: cancelledCount)
        if cancelledCount > 0 { act.statements = NagStatements.cancelOpenBatch(of: user, in: family, at: caller.now) }
        guard endsMembership else { return .perform(act, nil) }
        act.details["role"] = person.role.rawValue
        act.statements += [
            MembershipStatements.markRemoved(user, at: caller.now), MembershipStatements.revokeRelationships(user),
            CredentialStatements.delete(of: user), departure.sessionRevocation(user),
            ConsentStatements.revokeInActFamily(of: user, at: caller.now), PolicyStatements.removeOwnership(of: user),
            DeviceStatements.deleteAll(of: user), ConstraintStatements.deleteAll(of: user),
        ]
        act.statements += DraftStatements.endOnDeparture(of: user, at: caller.now)
        act.statements +=
            accessRevocation(person, isRemoval: departure.isRemoval, at: caller.now) + departure.additionalStatements
        return .perform(act, departure.answer(person))
    }

    /// Returns the statements that revoke the access of somebody who may know the family's codes: any member who is
    /// removed, and any guardian who leaves. The family gets new codes, and its other guardians are notified. A
    /// guardian may know the children's PINs, so after a guardian's departure the children's sessions end too.
    private func accessRevocation(_ person: MemberRecord, isRemoval: Bool, at now: Timestamp) -> [SQL] {
        guard isRemoval || person.role == .guardian else { return [] }
        let renewal = [
            FamilyStatements.setCodes(invite: makeCode(), child: makeCode()),
            DeliveryStatements.insert(.codesRenewed, toGuardiansBesides: [person.id], at: now),
        ]
        guard person.role == .guardian else { return renewal }
        return renewal + [SessionStatements.revokeChildSessions(besides: person.id, at: now)]
    }
}
