import Domain
import JSON
import NagzAI

extension SimulationResult {
    public init(_ policy: PolicyResult, _ outcome: Result<RoutingDecision, RoutingFailure>) {
        self.policy = SimulatedPolicy(policy)
        switch outcome {
        case .success(let decision):
            self.decision = SimulatedDecision(decision)
            explanation = decision.reason
        case .failure(let failure):
            self.failure = SimulatedFailure(code: failure.code?.rawValue, rule: failure.rule?.rawValue)
            explanation = failure.text
        }
    }
}

extension SimulatedPolicy {
    init(_ result: PolicyResult) {
        isAllowed = result.isAllowed
        effectiveAction = result.effectiveAction?.rawValue
        evaluated = result.evaluated
        applied = result.appliedUntilBlock
        warnings = result.warnings
        confirmation = result.confirmationPrompt
        violation = result.violation.map { SimulatedViolation(constraintID: $0.constraintID, reason: $0.reason) }
    }
}

extension SimulatedDecision {
    init(_ decision: RoutingDecision) {
        route = decision.route.rawValue
        taskType = decision.taskType
        provider = decision.provider.rawValue
        model = decision.model
        rule = decision.rule.rawValue
        reason = decision.reason
        isFallbackAllowed = decision.isFallbackAllowed
        confidence = decision.confidence
        at = decision.at
        trace = decision.trace
        warnings = decision.warnings
    }
}
