import Contract
import Domain
import NagzAI

/// What the server allows for a question: the constraints' result and the rule that leads here.
///
/// Where a question is answered is the client's choice. The server evaluates the constraints on its own copy and may
/// only refuse: it never sends a question elsewhere.
struct ExecutionPermit {
    let policy: PolicyResult
    let rule: RoutingRule
    /// The model that words the answer; nil for the rules.
    let model: ChosenModel?
    /// Why the rules answer although a model was asked for; nil if they do not.
    let fallback: FallbackReason?
    /// Whether the rules may answer where the model fails.
    let allowsFallback: Bool
    /// Whether the question comes here because the device failed, and carries what its person has to agree to.
    let isWidened: Bool
    /// What the person should know of the models that they have chosen.
    let notices: [String]

    /// What the person has to confirm; nil for nothing.
    var prompt: String? {
        let widening = isWidened ? "The device could not answer. Send the question to the server?" : nil
        let prompts = [widening, policy.confirmation].compactMap(\.self)
        return prompts.isEmpty ? nil : prompts.joined(separator: "\n\n")
    }

    /// - Parameters:
    ///   - mode: the person's preference.
    ///   - trace: the execution's.
    init(
        _ question: Question, _ options: ExecutionOptions, _ mode: AIMode, _ engine: PolicyEngine,
        _ models: ReachableModels, trace: TraceID
    ) throws(ExecutionRefusal) {
        let policy = engine.evaluate(question)
        func refusal(_ code: ExecutionCode, _ message: String, _ constraint: ConstraintID? = nil) -> ExecutionRefusal {
            ExecutionRefusal(code, message, policy: policy, constraint: constraint)
        }
        guard question.privacyLevel != .local, !question.requiresOffline else {
            throw refusal(.localQuestion, "This question is to stay on the device, and the server does not answer it.")
        }
        let taskType = options.taskType ?? mode.usualTask
        let isModelTask = taskType == .localModel || taskType == .cloudModel
        // Where the mode alone asks for a model, what it lacks is told first.
        let isKnownTask = taskType == .heuristic || isModelTask && question.operation.modelTask != nil
        guard isKnownTask || options.taskType == nil else {
            throw refusal(.taskUnavailable, "This operation has no answer of the task type \(taskType.rawValue).")
        }
        // Nothing is on the device, as far as the server is concerned.
        let key = models.key(for: options.model)
        let network: NetworkState =
            if taskType == .cloudModel, case .success(let key) = key { models.network(of: key) } else { .online }
        let isForced = policy.effectiveAction == .forceLocal || policy.effectiveAction == .forceCloud
        let isFallback = options.rule == .localFailureFallback
        allowsFallback = question.privacyLevel == .auto && !isForced && !isFallback && mode != .byoOnly
        var isAway = false
        let state = RuntimeState(
            local: LocalCapability(isAvailable: false), network: network, mode: mode,
            ownProviderModel: (try? key.get())?.key.model, gatewayModel: models.gateway,
            isThirdPartyAllowed: models.allowsThirdParties)
        switch Router.route(question, state, policy, at: question.askedAt, trace: trace) {
        // The rules stand in for a third party that cannot be reached, and the answer says so.
        case .failure(.networkUnavailable) where allowsFallback:
            rule = .networkUnavailable
            isAway = true
        case .failure(let failure):
            var constraint: ConstraintID?
            var message = failure.text
            if case .blocked(let violation) = failure {
                (constraint, message) = (violation.constraint, violation.reason)
            }
            if failure == .ownProviderMissing, case .failure(let problem) = key { message = problem.message }
            throw refusal(failure.code ?? .blocked, message, constraint)
        case .success(let decision):
            // The server's records are the source of the facts, so only a person's own words can leave the device.
            guard decision.route == .cloud || question.content.isEmpty && taskType != .cloudModel else {
                throw refusal(
                    .blocked, "A constraint keeps this question from leaving the device.", policy.applied.last)
            }
            rule = options.rule ?? decision.rule
        }
        guard mode != .byoOnly || taskType == .cloudModel else {
            throw refusal(
                .taskUnavailable, "Your AI mode byo_only lets your own provider alone answer: task_type cloud_llm.")
        }
        guard taskType != .cloudModel || models.allowsThirdParties else {
            throw refusal(.blocked, RoutingFailure.thirdPartyForbidden.text)
        }
        isWidened = isFallback && (!question.content.isEmpty || taskType == .cloudModel)
        self.policy = policy
        let notice: String?
        (model, fallback, notice) =
            isAway ? (nil, .unavailable, nil) : Self.model(of: taskType, options.model, mode, models)
        notices = [notice].compactMap(\.self)
        guard fallback == nil || allowsFallback else {
            throw taskType == .cloudModel
                ? refusal(.cloudNotConfigured, notice ?? "Your AI mode uses no model of your own keys.")
                : refusal(.localUnavailable, notice ?? "There is no model that could answer.")
        }
    }

    /// The model that is asked, or why there is none, and what the person should know of that.
    private static func model(
        of taskType: TaskType, _ name: String?, _ mode: AIMode, _ models: ReachableModels
    ) -> (ChosenModel?, FallbackReason?, notice: String?) {
        switch taskType {
        case .localModel where mode == .auto:
            guard let gateway = models.gateway, name == nil || name == gateway else { return (nil, .unavailable, nil) }
            if name == nil, let notice = models.gatewayNotice() { return (nil, .unavailable, notice) }
            return (.gateway(gateway), nil, nil)
        case .cloudModel where mode == .auto || mode == .byoOnly:
            switch models.key(for: name) {
            case .success(let key): return (.own(key), nil, nil)
            case .failure(let problem): return (nil, .unavailable, problem.message)
            }
        case .localModel, .cloudModel: return (nil, .mode, nil)
        case .heuristic, .retrieval, .hybridRetrieval: return (nil, nil, nil)
        }
    }
}

extension AIMode {
    /// What answers on a server where the client does not say it.
    var usualTask: TaskType { self == .byoOnly ? .cloudModel : .heuristic }
}

extension ExecutionOptions {
    /// Whether a model is to word the answer, as the client says or by the person's mode.
    func asksForModel(in mode: AIMode) -> Bool {
        let task = taskType ?? mode.usualTask
        return task == .localModel || task == .cloudModel
    }
}

/// Why a question gets no answer.
struct ExecutionRefusal: Error {
    let code: ExecutionCode
    /// For the person.
    let message: String
    let policy: PolicyResult
    let constraint: ConstraintID?
    /// The model that failed; the rules where none was asked.
    var author = Authorship()
    /// How many seconds a provider asks to wait.
    var retryAfter: Int?

    init(
        _ code: ExecutionCode, _ message: String, policy: PolicyResult = .nothing,
        constraint: ConstraintID? = nil
    ) {
        self.code = code
        self.message = message
        self.policy = policy
        self.constraint = constraint
    }

    func error(trace: TraceID, confirmation: Secret? = nil) -> APIError {
        var error = APIError(code.errorCode, message, field: code == .taskUnknown ? "task_type" : nil)
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
        case .localTooLong, .cloudTooLong, .localQuestion, .taskUnknown: .validationFailed
        case .cloudNotConfigured, .cloudKeyRefused, .confirmationNeeded, .confirmationInvalid, .taskUnavailable,
            .fallbackNeedsConfirmation, .sessionOver, .cancelled:
            .conflict
        case .cloudLimited: .rateLimited
        case .blocked: .policyForbidden
        }
    }

    var status: Int {
        switch self {
        case .localFailed, .cloudOutputRefused: 502
        case .localTooSlow: 504
        default: errorCode.status
        }
    }
}
