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
