import Audit
import Contract
import Domain
import Postgres

extension Incentives {
    /// Decides whether the recipient of a completed nag gets the reward of an active rule. The rule's condition need
    /// not be met. A rule takes effect once for a nag; a reward that waits for a guardian is given by `approve`
    /// instead.
    ///
    /// As with `approve`, nobody may give a reward to themselves, and the recipient's consent, preference and
    /// membership are checked at this moment.
    func decideGrant(
        _ consequence: Consequence, on view: NagView, by member: Member, at now: Timestamp, _ queries: any Queries
    ) async throws -> Decision<IncentiveEventID> {
        if let denial = member.denial(of: .approveIncentive) {
            return .denied(.incentiveApproveDenied, to: member, denial)
        }
        let (nag, family) = (view.nag, member.familyID)
        let subject = view.recipientPseudonym
        guard nag.recipientID != member.userID else {
            return .denied(.incentiveApproveDenied, to: member, .ownIncentive, subject: subject)
        }
        guard let row = try await queries.query(IncentiveStatements.rule(consequence.ruleID, in: family)).first else {
            throw APIError.noSuchIncentiveRule
        }
        let rule = try IncentiveRuleResponse(row)
        guard rule.status == .active, rule.action.type == consequence.actionType,
            rule.action.amount == consequence.amount
        else { throw APIError.incentiveRuleHasChanged }
        // While the nag is open, its completion will apply the rules.
        guard nag.status == .completed else { throw APIError.rewardNeedsCompletion }
        let earlierEvent = try await queries.query(
            IncentiveStatements.event(of: rule.id, on: nag.id, in: family)
        ).first
        if let earlierEvent {
            // A reward that waits was promised by the rule's version at the time of the completion, which may differ
            // from the current version.
            let isGiven = try earlierEvent["applied_at"] as Timestamp? != nil
            throw isGiven
                ? APIError.rewardWasGiven
                : APIError.rewardIsWaiting
        }
        let record = try await requireRewardable(nag.recipientID, in: family, queries)
        let incentive = Incentive(
            id: services.random.identifier(at: now), nag: nag.id, user: nag.recipientID,
            rule: RuleVersion(id: rule.id, version: rule.version, terms: rule.terms))
        return .perform(
            grantAct(incentive, record, isWaiting: false, by: member, to: subject, at: now), incentive.id)
    }
}
