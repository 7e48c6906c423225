import Contract
import Domain
import Testing

@testable import Server

extension TestServer {
    @discardableResult
    func rule(
        _ trigger: IncentiveTrigger = .nagCompleted, _ count: Int = 1, _ reward: IncentiveReward = .bonusPoints,
        _ amount: Int = 50, _ mode: IncentiveApprovalMode = .auto, in family: Household, as person: TestPerson? = nil
    ) async throws -> IncentiveRuleResponse {
        try await call(
            API.createIncentiveRule,
            IncentiveRuleCreate(
                familyID: family.id, condition: IncentiveCondition(type: trigger, count: count),
                action: IncentiveAction(type: reward, amount: amount), approvalMode: mode),
            as: person ?? family.guardian)
    }

    @discardableResult
    func change(
        _ rule: IncentiveRuleID, _ update: IncentiveRuleUpdate, as person: TestPerson
    ) async throws -> IncentiveRuleResponse {
        try await call(API.updateIncentiveRule, IncentiveRulePath(ruleID: rule), update, as: person)
    }

    func rules(of family: Household) async throws -> [IncentiveRuleResponse] {
        try await call(API.listIncentiveRules, IncentiveListQuery(familyID: family.id), as: family.guardian).items
    }

    /// Lets a person complete a new nag on time, and returns the incentive events that the rules created.
    @discardableResult
    func earn(_ person: TestPerson, in family: Household) async throws -> [IncentiveEventResponse] {
        clock.advance(by: .minutes(1))
        let nag = try await nag(from: family.guardian, to: person)
        _ = try await complete(nag.id, as: person)
        return try await incentives(nag.id, as: family.guardian)
    }

    func incentives(_ nag: NagID, as person: TestPerson) async throws -> [IncentiveEventResponse] {
        try await call(API.listIncentiveEvents, IncentiveEventListQuery(nagID: nag), as: person).items
    }

    func waiting(_ family: Household) async throws -> [IncentiveEventResponse] {
        try await call(API.listWaitingIncentiveEvents, IncentiveListQuery(familyID: family.id), as: family.guardian)
            .items
    }

    @discardableResult
    func approve(_ event: IncentiveEventID, as person: TestPerson) async throws -> IncentiveEventResponse {
        try await call(API.approveIncentiveEvent, IncentiveEventPath(eventID: event), as: person)
    }

    func points(of person: TestPerson, in family: Household) async throws -> GamificationSummary {
        try await call(API.getGamificationSummary, FamilyQuery(familyID: family.id), as: person)
    }
}
