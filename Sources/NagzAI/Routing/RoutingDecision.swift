import Domain

/// The decision of the router: the route of a question, its provider and the rule.
public struct RoutingDecision: Hashable, Sendable {
    public enum Route: String, Sendable, CaseIterable { case local, cloud }

    public let route: Route
    public let taskType: TaskType
    public let provider: ProviderName
    /// The model's name; nil for the rules, which are no model.
    public let model: String?
    public let rule: RoutingRule
    public let isFallbackAllowed: Bool
    public let at: Timestamp
    public let trace: TraceID
    /// The policy's warnings, and what the router could not follow.
    public let warnings: [String]

    /// The router is certain of its decision.
    public var confidence: Double { 1 }
    /// The rule as people read it.
    public var reason: String { rule.text }
}

/// The name of a provider of answers.
public enum ProviderName: String, Sendable, CaseIterable {
    case heuristic
    /// The operating system's model on the device.
    case foundationModels = "foundation_models"
    /// A model behind a gateway on the loopback address of the device.
    case localModel = "local_model"
    /// A model behind the server's gateway.
    case serverGateway = "server_gateway"
    /// The person's own provider, with their own key.
    case ownProvider = "byo"

    /// The providers on a device, between which a person chooses with `ai_model_local`.
    public static let onDevice: [ProviderName] = [.foundationModels, .localModel]
}

/// A reason for which a question has no route.
public enum RoutingFailure: Error, Hashable, Sendable {
    case blocked(ConstraintViolation)
    case networkUnavailable
    /// The person's mode and the question leave no place that may answer.
    case localModelUnavailable
    /// The mode asks for the person's own provider, which has no key.
    case ownProviderMissing
    case thirdPartyForbidden
    /// The mode lets a model alone answer, and the operation has nothing but figures, which are the rules'.
    case nothingToWrite
    case switchedOff

    /// The rule; nil where the person's mode decides instead of a rule.
    public var rule: RoutingRule? {
        switch self {
        case .blocked: .policyBlock
        case .networkUnavailable: .networkUnavailable
        case .localModelUnavailable, .ownProviderMissing, .thirdPartyForbidden, .nothingToWrite, .switchedOff: nil
        }
    }

    /// The code in `details.error_code`; nil for the mode `off`, which is answered with AUTHZ_DENIED alone.
    public var code: ExecutionCode? {
        switch self {
        case .blocked, .thirdPartyForbidden: .blocked
        case .networkUnavailable: .networkUnavailable
        case .localModelUnavailable: .localUnavailable
        case .ownProviderMissing: .cloudNotConfigured
        case .nothingToWrite: .taskUnavailable
        case .switchedOff: nil
        }
    }
}
