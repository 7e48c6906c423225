import Contract
import Domain
import NagzAI

/// The server's permission to answer a question: the constraints' result, the router's decision, and the model to ask.
///
/// The client chooses where a question is answered. The server evaluates its own copy of the constraints and may only
/// refuse: it never sends a question elsewhere.
struct ExecutionPermit {
    let policy: PolicyResult
    /// The router's decision.
    let decidedRoute: DecidedRoute
    /// The router's decision once the person has confirmed the prompt.
    var confirmedRoute: DecidedRoute {
        var confirmed = decidedRoute
        if needsFallbackConfirmation { confirmed.fallbackConfirmed = .yes }
        if policy.confirmationPrompt != nil { confirmed.constraintConfirmed = .yes }
        return confirmed
    }
    /// The model that words the answer; nil for the rules.
    let model: ChosenModel?
    /// The reason for which the rules answer instead of the requested model; nil if they do not.
    let fallback: FallbackReason?
    /// Whether the rules may take the place of a model that fails.
    let letsRulesAnswer: Bool
    /// Whether the person must confirm that a question that the device failed to answer is sent to the server. They
    /// must if the question has words of theirs, or asks for a third party's model.
    let needsFallbackConfirmation: Bool
    /// The notices for the person about the models that they have chosen.
    let notices: [String]

    /// The prompt that the person has to confirm; nil for none.
    var promptToConfirm: String? {
        let fallbackPrompt =
            needsFallbackConfirmation ? "The device could not answer. Send the question to the server?" : nil
        let prompts = [fallbackPrompt, policy.confirmationPrompt].compactMap(\.self)
        return prompts.isEmpty ? nil : prompts.joined(separator: "\n\n")
    }

    /// - Throws: the refusal, if the server may not answer the question.
    init(
        _ question: Question, _ options: ExecutionOptions, _ settings: AISettings, _ engine: PolicyEngine,
        _ models: ReachableModels, trace: TraceID
    ) throws(ExecutionRefusal) {
        let (policy, mode) = (engine.evaluate(question), settings.mode)
        var decidedRoute = DecidedRoute()
        func refusal(_ reason: ExecutionReason, _ constraint: ConstraintID? = nil) -> ExecutionRefusal {
            ExecutionRefusal(reason, policy: policy, decidedRoute: decidedRoute, constraint: constraint)
        }
        guard !options.isTaskUnknown else {
            throw refusal(.taskIsUnknown)
        }
        guard question.privacyLevel != .local, !question.requiresOffline else {
            decidedRoute = DecidedRoute(rule: .privacyLocal, route: .local)
            throw refusal(.questionIsLocal)
        }
        let taskType = options.taskType ?? mode.defaultTask
        let isModelTask = taskType == .localModel || taskType == .cloudModel
        // A task that only the person's mode implies is not refused here: later refusals say what it lacks.
        let isTaskAvailable = taskType == .heuristic || isModelTask && question.operation.modelTask != nil
        guard isTaskAvailable || options.taskType == nil else {
            throw refusal(.taskIsUnavailable)
        }
        let keyResult = models.key(for: options.model)
        let network: NetworkState =
            if taskType == .cloudModel, case .success(let key) = keyResult { models.network(of: key) } else { .online }
        let isRouteForced = policy.effectiveAction == .forceLocal || policy.effectiveAction == .forceCloud
        let isDeviceFallback = options.rule == .localFailureFallback
        letsRulesAnswer = question.privacyLevel == .auto && !isRouteForced && !isDeviceFallback && mode != .byoOnly
        var isThirdPartyUnreachable = false
        // The server cannot use the device's model, so it treats the device as if it had none.
        let state = RuntimeState(
            local: LocalCapability(isAvailable: false), network: network, mode: mode,
            ownProviderModel: (try? keyResult.get())?.response.model, gatewayModel: models.gatewayModel,
            isThirdPartyAllowed: models.allowsThirdParties, isServer: true)
        switch Router.route(question, state, policy, at: question.askedAt, trace: trace) {
        // The rules answer instead of a third party that cannot be reached, and the answer says so.
        case .failure(.networkUnavailable) where letsRulesAnswer:
            decidedRoute = DecidedRoute(rule: .networkUnavailable, route: .cloud)
            isThirdPartyUnreachable = true
        case .failure(let failure):
            decidedRoute = DecidedRoute(rule: failure.rule)
            var constraint: ConstraintID?
            var message = failure.text
            if case .blocked(let violation) = failure {
                (constraint, message) = (violation.constraintID, violation.reason)
            }
            if failure == .ownProviderMissing, case .failure(let problem) = keyResult { message = problem.message }
            throw refusal(ExecutionReason(failure.code ?? .blocked, message), constraint)
        case .success(let decision):
            decidedRoute = DecidedRoute(
                rule: decision.rule, route: decision.route, isFallbackAllowed: decision.isFallbackAllowed)
            // The server's records are the source of the facts, so only a person's own words can leave the device.
            guard decision.rule != .policyForceLocal || question.content.isEmpty && taskType != .cloudModel else {
                throw refusal(.constraintKeepsQuestionOnDevice, policy.decidingConstraint)
            }
        }
        if let claimed = options.rule,
            !claimed.isPlausible(for: question, options.privacyLevel, settings, policy, trace)
        {
            throw refusal(.ruleIsImplausible(claimed))
        }
        guard mode != .byoOnly || taskType == .cloudModel else {
            throw refusal(.onlyOwnProvidersAnswer)
        }
        guard taskType != .cloudModel || models.allowsThirdParties else {
            throw refusal(.thirdPartyIsForbidden)
        }
        needsFallbackConfirmation = isDeviceFallback && (!question.content.isEmpty || taskType == .cloudModel)
        if needsFallbackConfirmation { decidedRoute = DecidedRoute(rule: .localFailureFallback, route: .cloud) }
        (self.policy, self.decidedRoute) = (policy, decidedRoute)
        let notice: String?
        (model, fallback, notice) =
            isThirdPartyUnreachable
            ? (nil, .unavailable, nil) : Self.model(of: taskType, options.model, mode, models)
        notices = [notice].compactMap(\.self)
        guard fallback == nil || letsRulesAnswer else {
            throw refusal(taskType == .cloudModel ? .noCloudModel(notice) : .noLocalModel(notice))
        }
    }

    /// Returns the model to ask, or the reason for which there is none, with a notice for the person. All three are nil
    /// for a task that needs no model.
    private static func model(
        of taskType: TaskType, _ name: String?, _ mode: AIMode, _ models: ReachableModels
    ) -> (ChosenModel?, FallbackReason?, notice: String?) {
        switch taskType {
        case .localModel where mode == .auto:
            guard let gateway = models.gatewayModel, name == nil || name == gateway else {
                return (nil, .unavailable, nil)
            }
            if name == nil, let notice = models.gatewayNotice() { return (nil, .unavailable, notice) }
            return (.gateway(gateway), nil, nil)
        case .cloudModel where mode == .auto || mode == .byoOnly:
            switch models.key(for: name) {
            case .success(let key): return (.ownKey(key), nil, nil)
            case .failure(let problem): return (nil, .unavailable, problem.message)
            }
        case .localModel, .cloudModel: return (nil, .mode, nil)
        case .heuristic, .retrieval, .hybridRetrieval: return (nil, nil, nil)
        }
    }
}

extension AIMode {
    /// The task type of a question to the server if the client names none.
    var defaultTask: TaskType { self == .byoOnly ? .cloudModel : .heuristic }
}

extension ExecutionOptions {
    /// Whether a model is to word the answer, because the client or the person's AI mode asks for it.
    func asksForModel(in mode: AIMode) -> Bool {
        let task = taskType ?? mode.defaultTask
        return task == .localModel || task == .cloudModel
    }
}

/// The router's decision: the route, the rule that led to it, and the person's confirmations. The rule is nil before
/// the router has decided; the route is also nil if the router refused the question.
struct DecidedRoute: Hashable {
    var rule: RoutingRule?
    var route: RoutingDecision.Route?
    /// Whether another route is allowed if this one fails.
    var isFallbackAllowed = false
    /// Whether the person confirmed that the server may answer after the device has failed.
    var fallbackConfirmed = ConfirmationStatus.none
    /// Whether the person gave the confirmation that a constraint asks for.
    var constraintConfirmed = ConfirmationStatus.none
}

extension RoutingRule {
    /// Whether a client's router may have sent the question to the server by this rule. The client's constraints can
    /// differ from the server's: they may be older, or stored on the device only.
    /// - Parameters:
    ///   - level: the privacy level that the client names; nil if it names none.
    ///   - policy: the constraints' result on the server.
    fileprivate func isPlausible(
        for question: Question, _ level: PrivacyLevel?, _ settings: AISettings, _ policy: PolicyResult, _ trace: TraceID
    ) -> Bool {
        switch self {
        case .policyBlock, .networkUnavailable, .privacyLocal, .policyForceLocal, .autoLocal: return false
        case .privacyCloud: return question.privacyLevel == .cloud
        case .policyForceCloud: return true
        case .autoCloud: return level != .cloud
        case .localFailureFallback:
            // The device is assumed to be able to answer, because only the router's first decision is checked.
            let device = RuntimeState(
                local: LocalCapability(maxQuestionTokens: .max), network: .online,
                tokenThreshold: settings.tokenThreshold,
                mode: settings.mode)
            let firstDecision = Router.route(question, device, policy, at: question.askedAt, trace: trace)
            return (try? firstDecision.get())?.isFallbackAllowed ?? false
        }
    }
}

/// A refusal to answer a question.
struct ExecutionRefusal: Error {
    let code: ExecutionCode
    /// The message for the person.
    let message: String
    let policy: PolicyResult
    /// The router's decision; without a rule if the question was refused before it was routed.
    let decidedRoute: DecidedRoute
    /// The constraint that blocked the question or keeps it on the device; nil for other refusals.
    let constraint: ConstraintID?
    /// The model that failed; otherwise the rules. Its `asked` is the model that was asked before the refusal, if any.
    var author = Authorship()
    /// The number of seconds that a provider asks to wait; nil if it names none.
    var retryAfter: Int?

    init(
        _ reason: ExecutionReason, policy: PolicyResult = .nothing,
        decidedRoute: DecidedRoute = DecidedRoute(), constraint: ConstraintID? = nil
    ) {
        code = reason.code
        message = reason.message
        self.policy = policy
        self.decidedRoute = decidedRoute
        self.constraint = constraint
    }

    /// Creates the refusal of a question that was permitted.
    init(_ reason: ExecutionReason, _ permit: ExecutionPermit) {
        self.init(reason, policy: permit.policy, decidedRoute: permit.decidedRoute)
    }

    /// Creates the refusal of a question that a model has failed to answer.
    init(
        _ reason: ExecutionReason, _ permit: ExecutionPermit, failed model: ChosenModel,
        retryAfter: Int?
    ) {
        self.init(reason, policy: permit.policy, decidedRoute: permit.confirmedRoute)
        author = Authorship(model.provider, model: model.name)
        self.retryAfter = retryAfter
    }

    /// Returns the error of the response, with the trace and the token of a requested confirmation.
    func error(trace: TraceID, confirmation: Secret? = nil) -> APIError {
        var error = APIError(
            code.errorCode, message, field: code.field,
            reason: code == .questionReused ? ErrorReason.questionReused : nil)
        error.status = code.status
        error.retryAfter = retryAfter
        error.execution = ExecutionFault(
            code: code.rawValue, traceID: trace, isRecoverable: code.isRecoverable, confirmation: confirmation,
            constraintID: constraint)
        return error
    }
}

extension ExecutionCode {
    /// The code of the error envelope.
    var errorCode: ErrorCode {
        switch self {
        case .localUnavailable, .localFailed, .localTooSlow, .cloudUnavailable, .cloudOutputRefused,
            .networkUnavailable:
            .unavailable
        case .localTooLong, .cloudTooLong, .localQuestion, .taskUnknown, .claimImplausible: .validationFailed
        case .cloudNotConfigured, .cloudKeyRefused, .confirmationNeeded, .confirmationInvalid, .taskUnavailable,
            .fallbackNeedsConfirmation, .sessionEnded, .cancelled, .questionReused:
            .conflict
        case .cloudLimited: .rateLimited
        case .blocked: .policyForbidden
        }
    }

    /// The name of the invalid input; nil for other refusals.
    fileprivate var field: String? {
        switch self {
        case .taskUnknown: "task_type"
        case .claimImplausible: "rule_id"
        case .questionReused: "question_id"
        default: nil
        }
    }

    /// The HTTP status of the response.
    var status: Int {
        switch self {
        case .localFailed, .cloudOutputRefused: 502
        case .localTooSlow: 504
        default: errorCode.status
        }
    }
}
