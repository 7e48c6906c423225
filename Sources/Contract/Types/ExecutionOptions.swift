import Domain
import JSON
import NagzAI

/// A client's options for the answer to its question. Nil leaves the choice to the server or the person's preferences.
public struct ExecutionOptions: Hashable, Sendable {
    /// The execution's trace, which overrides the request's `traceparent`.
    public var traceID: TraceID?
    /// The ID that the client chose for the question, and repeats with each attempt.
    public var questionID: QuestionID?
    /// The token of an AI session.
    public var sessionID: Secret?
    /// The kind of engine that is to answer; nil for the default.
    public var taskType: TaskType?
    /// Whether `task_type` is unknown, or missing although it is required. Such a question is refused, and recorded.
    public var isTaskUnknown = false
    /// Whether the stored answer has the trace of its execution, so that a repeated request gets the first one's trace.
    public var storesTrace = false
    public var privacyLevel: PrivacyLevel?
    public var intent: QuestionIntent?
    /// The model to ask; for the person's own keys also the provider, or `provider/model`.
    public var model: String?
    /// The routing rule by which the client chose the server.
    public var rule: RoutingRule?
    /// The confirmation that an earlier refusal asked for.
    public var confirmation: Secret?

    /// Whether the client requests a model's answer.
    public var asksForModel: Bool { taskType == .localModel || taskType == .cloudModel }

    /// The maximum length of `model`, in Unicode scalars.
    public static let maxModelNameLength = 64
    /// The maximum length of an AI session's token and of a confirmation, in Unicode scalars.
    static let maxSecretLength = 64

    public init(
        traceID: TraceID? = nil, questionID: QuestionID? = nil, sessionID: Secret? = nil, taskType: TaskType? = nil,
        privacyLevel: PrivacyLevel? = nil, intent: QuestionIntent? = nil, model: String? = nil,
        rule: RoutingRule? = nil, confirmation: Secret? = nil
    ) {
        self.traceID = traceID
        self.questionID = questionID
        self.sessionID = sessionID
        self.taskType = taskType
        self.privacyLevel = privacyLevel
        self.intent = intent
        self.model = model
        self.rule = rule
        self.confirmation = confirmation
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        traceID = try fields.optional("trace_id")
        questionID = try fields.optional("question_id")
        sessionID = try fields.optionalText("session_id", 1...Self.maxSecretLength).map { Secret($0) }
        do throws(InvalidInput) { taskType = try fields.optional("task_type") } catch { isTaskUnknown = true }
        privacyLevel = try fields.optional("privacy_level")
        intent = try fields.optional("intent")
        model = try fields.optionalText("model", 1...Self.maxModelNameLength)
        rule = try fields.optional("rule_id")
        confirmation = try fields.optionalText("confirmation", 1...Self.maxSecretLength).map { Secret($0) }
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.fieldIfPresent("trace_id", traceID)
        json.fieldIfPresent("question_id", questionID)
        json.fieldIfPresent("session_id", sessionID)
        json.fieldIfPresent("task_type", taskType)
        json.fieldIfPresent("privacy_level", privacyLevel)
        json.fieldIfPresent("intent", intent)
        json.fieldIfPresent("model", model)
        json.fieldIfPresent("rule_id", rule)
        json.fieldIfPresent("confirmation", confirmation)
    }
}

extension ExecutionOptions: WireParameters {
    /// Reads the options of a query. It has no session token, which MUST NOT be in a URL, because URLs reach logs. A
    /// confirmation may be in a URL, because only its person can use it, once, for one question.
    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        self.init(
            traceID: try parameters.optionalQuery("trace_id"), questionID: try parameters.optionalQuery("question_id"),
            privacyLevel: try parameters.optionalQuery("privacy_level"),
            intent: try parameters.optionalQuery("intent"), model: try Self.readModel(parameters),
            rule: try parameters.optionalQuery("rule_id"),
            confirmation: try parameters.optionalQuery("confirmation"))
        do throws(InvalidInput) { taskType = try parameters.optionalQuery("task_type") } catch { isTaskUnknown = true }
    }

    private static func readModel(_ parameters: ParameterReader) throws(InvalidInput) -> String? {
        guard let model: String = try parameters.optionalQuery("model") else { return nil }
        guard (1...maxModelNameLength).contains(model.unicodeScalars.count) else {
            throw .wrongCount(1...maxModelNameLength, of: "characters", in: "model")
        }
        return model
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("trace_id", traceID)
        parameters.query("question_id", questionID)
        parameters.query("task_type", taskType)
        parameters.query("privacy_level", privacyLevel)
        parameters.query("intent", intent)
        parameters.query("model", model)
        parameters.query("rule_id", rule)
        parameters.query("confirmation", confirmation)
    }
}

/// A request in which the client may name the trace.
public protocol HasClientTrace {
    var clientTrace: TraceID? { get }
}

extension AIEnvelope: HasClientTrace {
    public var clientTrace: TraceID? { options.traceID }
}

/// A request of an AI operation, with options beside its own members or parameters.
public struct AIEnvelope<Request: Sendable & Hashable>: Sendable, Hashable {
    public var request: Request
    public var options: ExecutionOptions

    public init(_ request: Request, _ options: ExecutionOptions = ExecutionOptions()) {
        self.request = request
        self.options = options
    }
}

extension AIEnvelope: WireReadable, WireInput where Request: WireInput {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(try Request(fields), try ExecutionOptions(fields))
    }
}

extension AIEnvelope: WireOutput where Request: WireMembers {
    public func write(to json: inout JSONWriter) {
        json.object { json in
            request.writeMembers(to: &json)
            options.writeMembers(to: &json)
        }
    }
}

extension AIEnvelope: WireContent where Request: WireInput & WireMembers {}

extension AIEnvelope: WireParameters where Request: WireParameters {
    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        self.init(try Request(parameters), try ExecutionOptions(parameters))
    }

    public func write(to parameters: inout ParameterWriter) {
        request.write(to: &parameters)
        options.write(to: &parameters)
    }
}

/// The answer of an AI operation. It has a report on the execution if the client has set an option or asked for a
/// draft, or if the person's mode asks for a model.
public struct AIAnswer<Response: WireInput & WireMembers & Hashable>: WireObject, WireMembers, Hashable {
    public var response: Response
    private var report: Report
    /// The draft that sends the answer, if the client has asked for one.
    public var draftID: DraftID?
    /// The trace of the execution, in stored answers of `execute` only.
    public var traceID: TraceID?

    public var execution: ExecutionReport? {
        if case .some(let execution) = report { execution } else { nil }
    }

    /// Indirect, because the stack frames of a waiting request hold several answers, and few have a report.
    private indirect enum Report: Hashable {
        case none
        case some(ExecutionReport)
    }

    public init(
        _ response: Response, execution: ExecutionReport? = nil, draftID: DraftID? = nil, traceID: TraceID? = nil
    ) {
        self.response = response
        report = execution.map { .some($0) } ?? .none
        self.draftID = draftID
        self.traceID = traceID
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            try Response(fields), execution: try fields.optional("execution"), draftID: try fields.optional("draft_id"),
            traceID: try fields.optional("trace_id"))
    }

    public func writeMembers(to json: inout JSONWriter) {
        response.writeMembers(to: &json)
        json.fieldIfPresent("execution", execution)
        json.fieldIfPresent("draft_id", draftID)
        json.fieldIfPresent("trace_id", traceID)
    }
}
