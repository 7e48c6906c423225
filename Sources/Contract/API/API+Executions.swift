import Domain
import NagzAI

extension API {
    /// Ask the mediator, saying what is to answer.
    public static let execute = Endpoint<NoParameters, Asking<ExecutionRequest>, ExecutionAnswer>(
        Operation("execute", .post, "/api/v1/ai/executions", tag: .executions, status: 201))

    /// List executions, the newest first.
    public static let listExecutions = Endpoint<ExecutionListQuery, NoBody, ExecutionPage>(
        Operation("listExecutions", .get, "/api/v1/ai/executions", tag: .executions))

    /// Delete the caller's executions before a moment.
    public static let deleteExecutions = Endpoint<ExecutionDeletionQuery, NoBody, ExecutionDeletion>(
        Operation("deleteExecutions", .delete, "/api/v1/ai/executions", tag: .executions))

    /// Download executions as lines of JSON, the newest first.
    public static let exportExecutions = Endpoint<ExecutionFilter, NoBody, PlainText>(
        Operation("exportExecutions", .get, "/api/v1/ai/executions/export", tag: .executions))

    /// Decline what a refused question asked to confirm.
    public static let declineConfirmation = Endpoint<NoParameters, ConfirmationReply, CancelledExecution>(
        Operation("declineConfirmation", .post, "/api/v1/ai/executions/confirmations", tag: .executions))

    /// Every attempt under a trace.
    public static let getExecution = Endpoint<ExecutionPath, NoBody, ExecutionTrace>(
        Operation("getExecution", .get, "/api/v1/ai/executions/{trace_id}", tag: .executions))

    /// Delete the caller's attempts under a trace.
    public static let deleteExecution = Endpoint<ExecutionPath, NoBody, NoAnswer>(
        Operation("deleteExecution", .delete, "/api/v1/ai/executions/{trace_id}", tag: .executions, status: 204))

    /// Begin an AI session.
    public static let beginAISession = Endpoint<NoParameters, AISessionCreate, AISession>(
        Operation("beginAISession", .post, "/api/v1/ai/sessions", tag: .executions, status: 201))

    /// End an AI session.
    public static let endAISession = Endpoint<NoParameters, AISessionName, NoAnswer>(
        Operation("endAISession", .delete, "/api/v1/ai/sessions", tag: .executions, status: 204))

    static let executionsOperations: [Operation] = [
        execute.operation, listExecutions.operation, deleteExecutions.operation, exportExecutions.operation,
        declineConfirmation.operation, getExecution.operation, deleteExecution.operation, beginAISession.operation,
        endAISession.operation,
    ]
}

// MARK: Parameters

/// The trace in a path.
public struct ExecutionPath: WireParameters, Hashable {
    public var traceID: TraceID

    public init(traceID: TraceID) {
        self.traceID = traceID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        traceID = try parameters.path("trace_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("trace_id", traceID)
    }
}

/// The executions of a family that match all fields. A field that is nil matches any.
public struct ExecutionFilter: WireParameters, Hashable {
    public var familyID: FamilyID
    /// The person who asked.
    public var userID: UserID?
    public var traceID: TraceID?
    public var questionID: QuestionID?
    public var operation: AskedOperation?
    public var route: RoutingDecision.Route?
    public var result: ExecutionResult?
    /// The beginning of the time range, itself included.
    public var since: Timestamp?
    /// The end of the time range, itself excluded.
    public var until: Timestamp?

    public init(
        familyID: FamilyID, userID: UserID? = nil, traceID: TraceID? = nil, questionID: QuestionID? = nil,
        operation: AskedOperation? = nil, route: RoutingDecision.Route? = nil, result: ExecutionResult? = nil,
        since: Timestamp? = nil,
        until: Timestamp? = nil
    ) {
        self.familyID = familyID
        self.userID = userID
        self.traceID = traceID
        self.questionID = questionID
        self.operation = operation
        self.route = route
        self.result = result
        self.since = since
        self.until = until
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        userID = try parameters.optionalQuery("user_id")
        traceID = try parameters.optionalQuery("trace_id")
        questionID = try parameters.optionalQuery("question_id")
        operation = try parameters.optionalQuery("operation")
        route = try parameters.optionalQuery("route")
        result = try parameters.optionalQuery("result")
        since = try parameters.optionalQuery("since", or: "from", "from_date")
        until = try parameters.optionalQuery("until", or: "to", "to_date")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("user_id", userID)
        parameters.query("trace_id", traceID)
        parameters.query("question_id", questionID)
        parameters.query("operation", operation)
        parameters.query("route", route)
        parameters.query("result", result)
        parameters.query("since", since)
        parameters.query("until", until)
    }
}

/// A page of executions.
public struct ExecutionListQuery: WireParameters, Hashable {
    public static let usualLimit = 50

    public var filter: ExecutionFilter
    public var cursor: String?
    /// 1…200.
    public var limit: Int

    public init(_ filter: ExecutionFilter, cursor: String? = nil, limit: Int = usualLimit) {
        self.filter = filter
        self.cursor = cursor
        self.limit = limit
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        filter = try ExecutionFilter(parameters)
        cursor = try parameters.optionalQuery("cursor")
        limit = try parameters.limit(default: Self.usualLimit)
    }

    public func write(to parameters: inout ParameterWriter) {
        filter.write(to: &parameters)
        parameters.query("cursor", cursor)
        parameters.query("limit", limit)
    }
}

/// The caller's executions to delete.
public struct ExecutionDeletionQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    public var before: Timestamp

    public init(familyID: FamilyID, before: Timestamp) {
        self.familyID = familyID
        self.before = before
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        before = try parameters.query("before")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("before", before)
    }
}
