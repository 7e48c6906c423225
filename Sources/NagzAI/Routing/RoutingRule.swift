/// The rules that decide on a route. An ID MUST NOT change its meaning.
public enum RoutingRule: String, Sendable, CaseIterable {
    /// A constraint blocks the question.
    case policyBlock = "POLICY_BLOCK"
    /// A constraint keeps the question on the device. The server may answer it if it has no words of a person.
    case policyForceLocal = "POLICY_FORCE_LOCAL"
    /// A constraint sends the question to the server.
    case policyForceCloud = "POLICY_FORCE_CLOUD"
    /// The question's privacy level or `requiresOffline` keeps it on the device.
    case privacyLocal = "PRIVACY_LOCAL"
    /// The question's privacy level sends it to the server.
    case privacyCloud = "PRIVACY_CLOUD"
    /// No earlier rule matches, and the device can answer.
    case autoLocal = "AUTO_LOCAL"
    /// No earlier rule matches, and the device cannot answer, or the person's mode is `byoOnly`.
    case autoCloud = "AUTO_CLOUD"
    /// A person confirmed the server after the local answer failed. The router never chooses this rule.
    case localFailureFallback = "LOCAL_FAILURE_FALLBACK"
    /// The server would have to answer, but the network is offline or degraded.
    case networkUnavailable = "NETWORK_UNAVAILABLE"
}
