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
    let taskType: TaskType
    /// Whether a model was asked for, and the rules answer instead because there is none.
    let usesFallback: Bool

    /// - Parameters:
    ///   - mode: the person's preference.
    ///   - trace: the execution's.
    init(
        _ question: Question, _ options: ExecutionOptions, _ mode: AIMode, _ engine: PolicyEngine, trace: TraceID
    ) throws(ExecutionRefusal) {
        let policy = engine.evaluate(question)
        func refusal(_ code: ExecutionCode, _ message: String, _ constraint: ConstraintID? = nil) -> ExecutionRefusal {
            ExecutionRefusal(code, message, policy: policy, constraint: constraint)
        }
        guard question.privacyLevel != .local, !question.requiresOffline else {
            throw refusal(.localQuestion, "This question is to stay on the device, and the server does not answer it.")
        }
        taskType = options.taskType ?? .heuristic
        let isModelTask = taskType == .localModel || taskType == .cloudModel
        guard taskType == .heuristic || isModelTask && question.operation.isWordedByModels else {
            throw refusal(.taskUnavailable, "This operation has no answer of the task type \(taskType.rawValue).")
        }
        // Nothing is on the device, as far as the server is concerned.
        let state = RuntimeState(local: LocalCapability(isAvailable: false), network: .online, mode: mode)
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
            guard decision.route == .cloud || question.content.isEmpty else {
                throw refusal(.blocked, "A constraint keeps a person's words on the device.", policy.applied.last)
            }
            rule = options.rule ?? decision.rule
        }
        guard taskType != .cloudModel else {
            throw refusal(.blocked, RoutingFailure.thirdPartyForbidden.text)
        }
        guard !isModelTask || question.privacyLevel == .auto else {
            throw refusal(.localUnavailable, "There is no model that could answer.")
        }
        usesFallback = isModelTask
        self.policy = policy
    }
}

extension AIOperationID {
    /// Whether a model may word the answer; patterns and predictions are figures.
    fileprivate var isWordedByModels: Bool { self != .patterns && self != .predictCompletion }
}

/// Why a question gets no answer.
struct ExecutionRefusal: Error {
    let code: ExecutionCode
    /// For the person.
    let message: String
    let policy: PolicyResult
    let constraint: ConstraintID?

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
