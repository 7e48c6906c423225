import Contract
import Domain

extension Sample {
    private static let condition = IncentiveCondition(type: .streakReached, count: 100)
    private static let action = IncentiveAction(type: .bonusPoints, amount: 1_000)
    private static let rule = IncentiveRuleResponse(
        id: id(29), familyID: id(2), version: 3, condition: condition, action: action,
        approvalMode: .guardianConfirmed, status: .retired)
    private static let incentive = IncentiveEventResponse(
        id: id(30), nagID: id(3), ruleID: id(29), ruleVersion: 3, userID: id(4), actionType: .badge, amount: 1,
        approvedBy: nil, at: moment, appliedAt: nil)

    static let incentives = [
        Sample(API.listIncentiveRules, IncentiveListQuery(familyID: id(2), page: page), NoBody(), page(rule)),
        Sample(
            API.createIncentiveRule, NoParameters(),
            IncentiveRuleCreate(
                familyID: id(2), condition: condition, action: action, approvalMode: .guardianConfirmed), rule),
        Sample(
            API.updateIncentiveRule, IncentiveRulePath(ruleID: id(29)),
            IncentiveRuleUpdate(condition: condition, action: action, approvalMode: .auto, status: .retired), rule),
        Sample(
            API.listIncentiveEvents, IncentiveEventListQuery(nagID: id(3), page: page), NoBody(), page(incentive)),
        Sample(
            API.listWaitingIncentiveEvents, IncentiveListQuery(familyID: id(2), page: page), NoBody(), page(incentive)),
        Sample(API.approveIncentiveEvent, IncentiveEventPath(eventID: id(30)), NoBody(), incentive),
    ]
}
