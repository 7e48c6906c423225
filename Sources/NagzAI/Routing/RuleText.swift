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
