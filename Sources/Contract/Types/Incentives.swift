import Domain
import JSON

extension IncentiveRuleResponse {
    public var terms: IncentiveTerms {
        IncentiveTerms(
            trigger: condition.type, count: condition.count, reward: action.type, amount: action.amount,
            approvalMode: approvalMode)
    }
}
