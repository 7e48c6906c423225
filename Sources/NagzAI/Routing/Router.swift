import Domain

/// Chooses where a question is answered: the first rule that matches, in a fixed order.
public enum Router {
    /// - Parameters:
    ///   - at: the time of the decision.
    ///   - trace: the identifier that follows the question to its answer.
    public static func route(
        _ question: Question, _ state: RuntimeState, _ policy: PolicyResult, at now: Timestamp, trace: TraceID
    ) -> Result<RoutingDecision, RoutingFailure> {
        guard state.mode != .off else { return .failure(.switchedOff) }
        if let violation = policy.violation { return .failure(.blocked(violation)) }
        var draft = Draft(
            state: state, isWritten: question.operation.modelTask != nil, warnings: policy.warnings + state.notices,
            now: now, trace: trace)
        if question.privacyLevel == .local || question.requiresOffline {
            // A rule of the family never sends what a person marked as local.
            if policy.effectiveAction == .forceCloud { draft.warnings.append(ignoredForceCloud) }
            return draft.local(.privacyLocal)
        }
        if policy.effectiveAction == .forceLocal {
            // Where no person's words would leave the device, the server's own records are as near.
            let route: RoutingDecision.Route = state.isServer && question.content.isEmpty ? .cloud : .local
            return draft.local(.policyForceLocal, route: route)
        }
        if policy.effectiveAction == .forceCloud { return draft.cloud(.policyForceCloud) }
        if question.privacyLevel == .cloud { return draft.cloud(.privacyCloud) }
        if state.mode != .byoOnly, state.canAnswer(question) {
            return draft.local(.autoLocal, isFallbackAllowed: state.mode == .auto || state.mode == .heuristic)
        }
        return draft.cloud(.autoCloud)
    }

    /// The warning for a constraint that asks for the cloud where the person asked for the device.
    public static let ignoredForceCloud = "A constraint asked for cloud execution, but this question stays local"
}

extension RuntimeState {
    fileprivate func canAnswer(_ question: Question) -> Bool {
        question.tokenCount <= tokenThreshold && question.tokenCount <= local.maxTokens && local.isAvailable
            && (question.intent.map(local.intents.contains) ?? true)
    }
}

extension AIMode {
    /// Whether the mode lets a model on the device write: the operating system's, or one behind a gateway on its
    /// loopback address.
    public func uses(systemModel isOfSystem: Bool) -> Bool {
        switch self {
        case .auto: true
        case .onDeviceOnly: isOfSystem
        case .localOnly: !isOfSystem
        case .heuristic, .byoOnly, .off: false
        }
    }

    /// Whether the mode lets only the device answer.
    public var staysOnDevice: Bool { self == .onDeviceOnly || self == .localOnly }
}

/// A decision without its route.
private struct Draft {
    let state: RuntimeState
    /// Whether a model may write the answer; otherwise its figures are the rules'.
    let isWritten: Bool
    var warnings: [String]
    let now: Timestamp
    let trace: TraceID

    func local(
        _ rule: RoutingRule, route: RoutingDecision.Route = .local, isFallbackAllowed: Bool = false
    ) -> Result<RoutingDecision, RoutingFailure> {
        switch state.mode {
        case .byoOnly: return .failure(.localModelUnavailable)
        // The rules are not what this mode promises.
        case .onDeviceOnly where state.local.model?.isOfSystem != true: return .failure(.localModelUnavailable)
        case .onDeviceOnly where !isWritten: return .failure(.nothingToWrite)
        case .heuristic, .auto, .onDeviceOnly, .localOnly, .off: break
        }
        return .success(decision(route, localProvider, rule, isFallbackAllowed))
    }

    func cloud(_ rule: RoutingRule) -> Result<RoutingDecision, RoutingFailure> {
        switch state.mode {
        case .onDeviceOnly, .localOnly: return .failure(.localModelUnavailable)
        case .byoOnly where state.ownProviderModel == nil: return .failure(.ownProviderMissing)
        case .byoOnly where !state.isThirdPartyAllowed: return .failure(.thirdPartyForbidden)
        case .byoOnly where !isWritten: return .failure(.nothingToWrite)
        case .heuristic, .auto, .byoOnly, .off: break
        }
        guard state.network == .online else { return .failure(.networkUnavailable) }
        return .success(decision(.cloud, cloudProvider, rule, false))
    }

    private typealias Provider = (name: ProviderName, task: TaskType, model: String?)

    private static let rules: Provider = (.heuristic, .heuristic, nil)

    private var localProvider: Provider {
        guard isWritten, let model = state.local.model, state.mode.uses(systemModel: model.isOfSystem) else {
            return Self.rules
        }
        return (model.isOfSystem ? .foundationModels : .localModel, .localModel, model.name)
    }

    private var cloudProvider: Provider {
        guard isWritten, state.mode == .auto || state.mode == .byoOnly else { return Self.rules }
        if let model = state.ownProviderModel, state.isThirdPartyAllowed { return (.ownProvider, .cloudModel, model) }
        if let model = state.gatewayModel { return (.serverGateway, .localModel, model) }
        return Self.rules
    }

    private func decision(
        _ route: RoutingDecision.Route, _ provider: Provider, _ rule: RoutingRule, _ isFallbackAllowed: Bool
    ) -> RoutingDecision {
        RoutingDecision(
            route: route, taskType: provider.task, provider: provider.name, model: provider.model, rule: rule,
            isFallbackAllowed: isFallbackAllowed, at: now, trace: trace, warnings: warnings)
    }
}
