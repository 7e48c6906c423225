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
        var draft = Draft(state: state, warnings: policy.warnings, now: now, trace: trace)
        if question.privacyLevel == .local || question.requiresOffline {
            // A rule of the family never sends what a person marked as local.
            if policy.effectiveAction == .forceCloud { draft.warnings.append(ignoredForceCloud) }
            return draft.local(.privacyLocal)
        }
        if policy.effectiveAction == .forceLocal { return draft.local(.policyForceLocal) }
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

/// A decision without its route.
private struct Draft {
    let state: RuntimeState
    var warnings: [String]
    let now: Timestamp
    let trace: TraceID

    func local(_ rule: RoutingRule, isFallbackAllowed: Bool = false) -> Result<RoutingDecision, RoutingFailure> {
        guard state.mode != .byoOnly else { return .failure(.localModelUnavailable) }
        return .success(decision(.local, localProvider, rule, isFallbackAllowed))
    }

    func cloud(_ rule: RoutingRule) -> Result<RoutingDecision, RoutingFailure> {
        switch state.mode {
        case .onDeviceOnly, .localOnly: return .failure(.localModelUnavailable)
        case .byoOnly where state.ownProviderModel == nil: return .failure(.ownProviderMissing)
        case .byoOnly where !state.isThirdPartyAllowed: return .failure(.thirdPartyForbidden)
        case .heuristic, .auto, .byoOnly, .off: break
        }
        guard state.network == .online else { return .failure(.networkUnavailable) }
        return .success(decision(.cloud, cloudProvider, rule, false))
    }

    private typealias Provider = (name: ProviderName, task: TaskType, model: String?)

    private static let rules: Provider = (.heuristic, .heuristic, nil)

    private var localProvider: Provider {
        guard let model = state.local.model else { return Self.rules }
        let mayUse =
            switch state.mode {
            case .auto: true
            case .onDeviceOnly: model.isOfSystem
            case .localOnly: !model.isOfSystem
            case .heuristic, .byoOnly, .off: false
            }
        guard mayUse else { return Self.rules }
        return (model.isOfSystem ? .foundationModels : .localModel, .localModel, model.name)
    }

    private var cloudProvider: Provider {
        guard state.mode == .auto || state.mode == .byoOnly else { return Self.rules }
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
