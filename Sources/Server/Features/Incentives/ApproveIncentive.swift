import Audit
import Contract
import Domain
import Postgres

extension Incentives {
    /// Approves a reward that waits for a guardian. The recipient gets what was promised by the version of the rule
    /// that caused the reward. Approving it again changes nothing.
    ///
    /// Nobody may approve their own reward: another guardian has to do it. The recipient's consent, preference and
    /// membership are checked now; while one of them is missing, the reward keeps waiting.
    func approve(_ caller: Caller, _ call: Call<IncentiveEventPath, NoBody>) async throws -> IncentiveEventResponse {
        let family = try await services.access.member(
            caller, orThrow: .noSuchIncentiveEvent, services.database
        ).familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            if let denial = member.denial(of: .approveIncentive) {
                return .denied(.incentiveApproveDenied, to: member, denial)
            }
            let row = try await queries.query(IncentiveStatements.event(call.parameters.eventID, in: family)).first
            guard let row else { throw APIError.noSuchIncentiveEvent }
            var event = try IncentiveEventResponse(row)
            guard event.appliedAt == nil else { return .answer(event) }
            let subject: Pseudonym? = try row["pseudonym"]
            guard event.userID != member.userID else {
                return .denied(.incentiveApproveDenied, to: member, .ownIncentive, subject: subject)
            }
            let record = try await requireRewardable(event.userID, in: family, queries)
            event.approvedBy = member.userID
            event.appliedAt = caller.now
            let incentive = Incentive(id: event.id, nag: event.nagID, user: event.userID, rule: try RuleVersion(row))
            return .perform(grantAct(incentive, record, by: member, to: subject, at: caller.now), event)
        }
    }

    /// Returns the record of a reward's recipient.
    /// - Throws: 403 while the person does not take part, 409 if they are no longer a member.
    func requireRewardable(
        _ user: UserID, in family: FamilyID, _ queries: any Queries
    ) async throws -> Gamification.Record {
        let row = try await queries.query(GamificationStatements.record(of: user, in: family)).onlyRow()
        let record = try Gamification.Record(row)
        guard record.isMember else { throw APIError.rewardedPersonHasLeft }
        guard record.hasConsent else { throw APIError.pointsNeedConsent }
        guard record.isEnabled else { throw APIError.rewardedPersonHasPointsOff }
        return record
    }

    /// Returns the act that gives a reward.
    /// - Parameter isWaiting: whether the reward is stored already and waits for a guardian; if not, the act inserts
    ///   it.
    func grantAct(
        _ incentive: Incentive, _ record: Gamification.Record, isWaiting: Bool = true, by member: Member,
        to subject: Pseudonym?, at now: Timestamp
    ) -> Act {
        var increments = TotalIncrements()
        increments.add([incentive])
        var statements = [
            isWaiting
                ? IncentiveStatements.approve(incentive.id, by: member.userID, at: now)
                : IncentiveStatements.insertEvents([incentive], approvedBy: member.userID, at: now),
            GamificationStatements.insertEvents([incentive], at: now),
            GamificationStatements.addToTotals(increments, for: incentive.user),
        ]
        var details = IncentiveNote.details([incentive.note])
        details["nag"] = incentive.nag.description
        if incentive.terms.reward == .badge, !record.badges.contains(.familyAward) {
            statements.append(GamificationStatements.insertBadges([.familyAward], to: incentive.user, at: now))
            details["badges"] = BadgeType.familyAward.rawValue
        }
        return Act(
            kind: .incentiveApproved, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            subject: subject, resource: incentive.id.retyped(), details: details, statements: statements)
    }
}

extension RuleVersion {
    /// Reads the version of a rule that an event names.
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["rule_id"], version: try row["rule_version"],
            terms: IncentiveTerms(
                trigger: try row["trigger"], count: try row["count"], reward: try row["action_type"],
                amount: try row["amount"], approvalMode: try row["approval_mode"]))
    }
}
