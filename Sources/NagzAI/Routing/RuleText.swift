import Domain

extension RoutingRule {
    /// The rule as people read it, in answers, history, export and console.
    public var text: String {
        switch self {
        case .policyBlock: "Execution blocked by policy constraint"
        case .policyForceLocal: "Policy constraint forced local execution"
        case .policyForceCloud: "Policy constraint forced cloud execution"
        case .privacyLocal: "User requested local-only execution (privacy constraint)"
        case .privacyCloud: "User requested cloud execution"
        case .autoLocal: "Auto mode: token count within local threshold"
        case .autoCloud: "Auto mode: token count exceeds local threshold or local model unavailable"
        case .localFailureFallback: "Local execution failed; fallback to cloud (user confirmed)"
        case .networkUnavailable: "Cloud execution unavailable: no network connectivity"
        }
    }
}

extension RoutingRule {
    /// Why a question went where it did, as people read it: the rule's text, but for what that would claim untruly.
    /// - Parameters:
    ///   - route: where the rule sent the question; nil for nowhere.
    ///   - taskType: what was asked for.
    ///   - level: the question's.
    ///   - fallback: whether the person agreed to a fallback.
    public func reason(
        _ route: RoutingDecision.Route?, _ taskType: TaskType, _ level: PrivacyLevel, fallback: ConfirmationStatus
    ) -> String {
        switch self {
        case .autoCloud where taskType == .heuristic: "Auto mode: the rules were asked for"
        case .autoCloud where taskType == .cloudModel: "A model of the person's own key was asked for"
        case .policyForceLocal where route == .cloud:
            "Policy constraint kept the question from third parties: only the server's own records may answer it"
        case .privacyLocal where level != .local: "The question was to be answered on the device"
        case .localFailureFallback where fallback == .no: "Local execution failed; fallback to cloud (user declined)"
        case .localFailureFallback where fallback == .none:
            "Local execution failed; fallback to cloud (not confirmed yet)"
        default: text
        }
    }
}

extension RoutingFailure {
    /// The failure as people read it.
    public var text: String {
        switch self {
        case .blocked(let violation): "\(RoutingRule.policyBlock.text): \(violation.reason)"
        case .networkUnavailable: RoutingRule.networkUnavailable.text
        case .localModelUnavailable: "The chosen mode and the question leave no place that may answer"
        case .ownProviderMissing: "The chosen mode asks for an own provider, which has no key"
        case .thirdPartyForbidden: "The family's policy allows no model of a third party"
        case .nothingToWrite: "The chosen mode lets a model alone answer, and no model writes figures"
        case .switchedOff: "The AI is switched off"
        }
    }
}
