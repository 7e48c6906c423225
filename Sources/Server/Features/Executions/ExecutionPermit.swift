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
        let taskType = options.taskType ?? .heuristic
        let isModelTask = taskType == .localModel || taskType == .cloudModel
        guard taskType == .heuristic || isModelTask && question.operation.modelTask != nil else {
            throw refusal(.taskUnavailable, "This operation has no answer of the task type \(taskType.rawValue).")
        }
        // Nothing is on the device, as far as the server is concerned.
        let state = RuntimeState(
            local: LocalCapability(isAvailable: false), network: .online, mode: mode,
            ownProviderModel: models.key(for: options.model)?.key.model, gatewayModel: models.gateway,
            isThirdPartyAllowed: models.allowsThirdParties)
        switch Router.route(question, state, policy, at: question.askedAt, trace: trace) {
        case .failure(let failure):
            var constraint: ConstraintID?
            var message = failure.text
            if case .blocked(let violation) = failure {
                (constraint, message) = (violation.constraint, violation.reason)
            }
            throw refusal(failure.code ?? .blocked, message, constraint)
        case .success(let decision):
            // The server's records are the source of the facts, so only a person's own words can leave the device.
            guard decision.route == .cloud || question.content.isEmpty && taskType != .cloudModel else {
                throw refusal(
                    .blocked, "A constraint keeps this question from leaving the device.", policy.applied.last)
            }
            rule = options.rule ?? decision.rule
        }
        guard taskType != .cloudModel || models.allowsThirdParties else {
            throw refusal(.blocked, RoutingFailure.thirdPartyForbidden.text)
        }
        let isForced = policy.effectiveAction == .forceLocal || policy.effectiveAction == .forceCloud
        let isFallback = rule == .localFailureFallback
        isWidened = isFallback && (!question.content.isEmpty || taskType == .cloudModel)
        allowsFallback = question.privacyLevel == .auto && !isForced && !isFallback
        self.policy = policy
        (model, fallback) = Self.model(of: taskType, options.model, mode, models)
        guard fallback == nil || allowsFallback else {
            throw taskType == .cloudModel
                ? refusal(.cloudNotConfigured, "You have stored no key for such a model, or your mode uses none.")
                : refusal(.localUnavailable, "There is no model that could answer.")
        }
    }

    /// The model that a client asked for, or why the person has none.
    private static func model(
        of taskType: TaskType, _ name: String?, _ mode: AIMode, _ models: ReachableModels
    ) -> (ChosenModel?, FallbackReason?) {
        switch taskType {
        case .localModel where mode == .auto:
            guard let gateway = models.gateway, name == nil || name == gateway else { return (nil, .unavailable) }
            return (.gateway(gateway), nil)
        case .cloudModel where mode == .auto || mode == .byoOnly:
            return models.key(for: name).map { (.own($0), nil) } ?? (nil, .unavailable)
        case .localModel, .cloudModel: return (nil, .mode)
        case .heuristic, .retrieval, .hybridRetrieval: return (nil, nil)
        }
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
