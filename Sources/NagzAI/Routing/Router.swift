import Domain

/// Chooses the place that answers a question: the first rule that matches decides.
public enum Router {
    /// Returns the decision for a question, or the reason why nothing may answer it.
    /// - Parameters:
    ///   - now: the time of the decision.
    ///   - trace: the ID that the question keeps until its answer.
    public static func route(
        _ question: Question, _ state: RuntimeState, _ policy: PolicyResult, at now: Timestamp, trace: TraceID
    ) -> Result<RoutingDecision, RoutingFailure> {
        guard state.mode != .off else { return .failure(.switchedOff) }
        if let violation = policy.violation { return .failure(.blocked(violation)) }
        var pending = PendingDecision(
            state: state, hasModelTask: question.operation.modelTask != nil, warnings: policy.warnings + state.notices,
            now: now, trace: trace)
        if question.privacyLevel == .local || question.requiresOffline {
            // No constraint sends a question to the cloud that must stay on the device.
            if policy.effectiveAction == .forceCloud { pending.warnings.append(ignoredForceCloudWarning) }
            return pending.routeWithoutThirdParty(.privacyLocal)
        }
        if policy.effectiveAction == .forceLocal {
            // A question without a person's words is about the server's own records, so the server may answer it.
            let isAboutServerRecords = state.isServer && question.content.isEmpty
            if isAboutServerRecords, state.mode.staysOnDevice { return .failure(.unavailableInMode) }
            let route: RoutingDecision.Route = isAboutServerRecords ? .cloud : .local
            return pending.routeWithoutThirdParty(.policyForceLocal, route: route)
        }
        if policy.effectiveAction == .forceCloud { return pending.routeToCloud(.policyForceCloud) }
        if question.privacyLevel == .cloud { return pending.routeToCloud(.privacyCloud) }
        if state.mode != .byoOnly, state.canAnswer(question) {
            return pending.routeWithoutThirdParty(
                .autoLocal, isFallbackAllowed: state.mode == .auto || state.mode == .heuristic)
        }
        return pending.routeToCloud(.autoCloud)
    }

    /// The warning for a constraint that asks for the cloud where the person asked for the device.
    public static let ignoredForceCloudWarning = "A constraint asked for cloud execution, but this question stays local"
}

extension RuntimeState {
    fileprivate func canAnswer(_ question: Question) -> Bool {
        question.tokenCount <= tokenThreshold && question.tokenCount <= local.maxQuestionTokens && local.isAvailable
            && (question.intent.map(local.intents.contains) ?? true)
    }
}

extension AIMode {
    /// Returns whether the mode lets a model on the device write: the operating system's if `isOfSystem`, otherwise one
    /// behind a gateway on the device's loopback address.
    public func allowsDeviceModel(isOfSystem: Bool) -> Bool {
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

/// The parts of a decision that are known before its route.
private struct PendingDecision {
    let state: RuntimeState
    /// Whether a model may write the answer. Otherwise the answer has only figures, which the rules give.
    let hasModelTask: Bool
    var warnings: [String]
    let now: Timestamp
    let trace: TraceID

    /// Returns the decision for an answer that no third party gives: on the device, or by the server if `route` is
    /// `.cloud`.
    func routeWithoutThirdParty(
        _ rule: RoutingRule, route: RoutingDecision.Route = .local, isFallbackAllowed: Bool = false
    ) -> Result<RoutingDecision, RoutingFailure> {
        switch state.mode {
        case .byoOnly: return .failure(.unavailableInMode)
        // This mode promises the operating system's model, so the rules must not answer instead.
        case .onDeviceOnly where state.local.model?.isOfSystem != true: return .failure(.unavailableInMode)
        case .onDeviceOnly where !hasModelTask: return .failure(.nothingToWrite)
        case .heuristic, .auto, .onDeviceOnly, .localOnly, .off: break
        }
        return .success(decision(route, localProvider, rule, isFallbackAllowed))
    }

    /// Returns the decision for an answer by the server, or by a model that it asks.
    func routeToCloud(_ rule: RoutingRule) -> Result<RoutingDecision, RoutingFailure> {
        switch state.mode {
        case .onDeviceOnly, .localOnly: return .failure(.unavailableInMode)
        case .byoOnly where state.ownProviderModel == nil: return .failure(.ownProviderMissing)
        case .byoOnly where !state.isThirdPartyAllowed: return .failure(.thirdPartyForbidden)
        case .byoOnly where !hasModelTask: return .failure(.nothingToWrite)
        case .heuristic, .auto, .byoOnly, .off: break
        }
        guard state.network == .online else { return .failure(.networkUnavailable) }
        return .success(decision(.cloud, cloudProvider, rule, false))
    }

    private typealias Provider = (name: ProviderName, task: TaskType, model: String?)

    private static let heuristicProvider: Provider = (.heuristic, .heuristic, nil)

    private var localProvider: Provider {
        guard hasModelTask, let model = state.local.model, state.mode.allowsDeviceModel(isOfSystem: model.isOfSystem)
        else {
            return Self.heuristicProvider
        }
        return (model.isOfSystem ? .foundationModels : .localGateway, .localModel, model.name)
    }

    private var cloudProvider: Provider {
        guard hasModelTask, state.mode == .auto || state.mode == .byoOnly else { return Self.heuristicProvider }
        if let model = state.ownProviderModel, state.isThirdPartyAllowed { return (.ownProvider, .cloudModel, model) }
        if let model = state.gatewayModel { return (.serverGateway, .localModel, model) }
        return Self.heuristicProvider
    }

    private func decision(
        _ route: RoutingDecision.Route, _ provider: Provider, _ rule: RoutingRule, _ isFallbackAllowed: Bool
    ) -> RoutingDecision {
        RoutingDecision(
            route: route, taskType: provider.task, provider: provider.name, model: provider.model, rule: rule,
            isFallbackAllowed: isFallbackAllowed, at: now, trace: trace, warnings: warnings)
    }
}
