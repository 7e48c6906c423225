/// The rules that decide on a route. An ID MUST NOT change its meaning.
public enum RoutingRule: String, Sendable, CaseIterable {
    case policyBlock = "POLICY_BLOCK"
    case policyForceLocal = "POLICY_FORCE_LOCAL"
    case policyForceCloud = "POLICY_FORCE_CLOUD"
    case privacyLocal = "PRIVACY_LOCAL"
    /// The question's privacy level sends it to the server.
    case privacyCloud = "PRIVACY_CLOUD"
    case autoLocal = "AUTO_LOCAL"
    case autoCloud = "AUTO_CLOUD"
    /// A person confirmed the server after the local answer failed. The router never chooses this rule.
    case localFailureFallback = "LOCAL_FAILURE_FALLBACK"
    case networkUnavailable = "NETWORK_UNAVAILABLE"
}
