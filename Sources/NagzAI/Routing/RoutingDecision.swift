import Domain

/// The decision of the router: the route of a question, its provider, and the rule that chose them.
public struct RoutingDecision: Hashable, Sendable {
    /// Where the question is answered: on the device, or by the server or a model that it asks.
    public enum Route: String, Sendable, CaseIterable { case local, cloud }

    public let route: Route
    public let taskType: TaskType
    public let provider: ProviderName
    /// The model's name; nil if the heuristics answer.
    public let model: String?
    public let rule: RoutingRule
    /// Whether the server may answer if the local answer fails.
    public let isFallbackAllowed: Bool
    public let at: Timestamp
    public let trace: TraceID
    /// The warnings of constraints and router, for the person.
    public let warnings: [String]

    /// The confidence of the decision: always 1, because the rules are exact.
    public var confidence: Double { 1 }
    /// The rule as a sentence for people.
    public var reason: String { rule.text }
}

/// The name of a provider of answers.
public enum ProviderName: String, Sendable, CaseIterable {
    /// The rules, without a model.
    case heuristic
    /// The operating system's model on the device.
    case foundationModels = "foundation_models"
    /// A model behind a gateway on the loopback address of the device.
    case localGateway = "local_model"
    /// A model behind the server's gateway.
    case serverGateway = "server_gateway"
    /// The person's own provider, with their own key.
    case ownProvider = "byo"

    /// The providers on a device, of which a person chooses one with `ai_model_local`.
    public static let deviceProviders: [ProviderName] = [.foundationModels, .localGateway]
}

/// A reason why a question has no route.
public enum RoutingFailure: Error, Hashable, Sendable {
    case blocked(ConstraintViolation)
    /// The server would have to answer, but the network is offline or degraded.
    case networkUnavailable
    /// The person's mode requires a model that is not available, or does not allow the place where the question must be
    /// answered.
    case unavailableInMode
    /// The mode requires the person's own provider, but there is no key for one.
    case ownProviderMissing
    /// The mode requires the person's own provider, but the family's policy or the person's role forbids third parties'
    /// models.
    case thirdPartyForbidden
    /// The mode requires a model, but the operation's response has only figures, which the rules give.
    case nothingToWrite
    /// The person's mode is `off`.
    case switchedOff

    /// The rule; nil where the person's mode decides instead of a rule.
    public var rule: RoutingRule? {
        switch self {
        case .blocked: .policyBlock
        case .networkUnavailable: .networkUnavailable
        case .unavailableInMode, .ownProviderMissing, .thirdPartyForbidden, .nothingToWrite, .switchedOff: nil
        }
    }

    /// The code in `details.error_code`; nil for the mode `off`, whose error has only the code AUTHZ_DENIED.
    public var code: ExecutionCode? {
        switch self {
        case .blocked, .thirdPartyForbidden: .blocked
        case .networkUnavailable: .networkUnavailable
        case .unavailableInMode: .localUnavailable
        case .ownProviderMissing: .cloudNotConfigured
        case .nothingToWrite: .taskUnavailable
        case .switchedOff: nil
        }
    }
}
