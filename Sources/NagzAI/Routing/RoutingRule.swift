/// The rules that decide on a route. An ID MUST NOT change its meaning.
public enum RoutingRule: String, Sendable, CaseIterable {
    case policyBlock = "POLICY_BLOCK"
    case policyForceLocal = "POLICY_FORCE_LOCAL"
    case policyForceCloud = "POLICY_FORCE_CLOUD"
    case privacyLocal = "PRIVACY_LOCAL"
    case privacyCloud = "PRIVACY_CLOUD"
    case autoLocal = "AUTO_LOCAL"
    case autoCloud = "AUTO_CLOUD"
    /// Not made by the router: a person confirmed it after the local answer failed.
    case localFailureFallback = "LOCAL_FAILURE_FALLBACK"
    case networkUnavailable = "NETWORK_UNAVAILABLE"
}
