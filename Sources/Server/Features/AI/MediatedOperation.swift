import Contract
import Domain
import JSON
import NagzAI
import Postgres

/// A type-erased AI operation, as the server offers it: at its own endpoint, and at `execute`, which serves all
/// operations.
struct MediatedOperation {
    /// The result that `execute` responds with, without the ids.
    struct ExecutedAnswer {
        /// The text of the answer; empty for operations whose answers are figures.
        let text: String
        let result: JSONObject
        let report: ExecutionReport
        /// The trace under which the answer is recorded; nil in answers that an earlier release stored.
        let trace: TraceID?
    }

    let register: (Mediator, RouteTable) -> Void
    let execute: (Mediator, ExecutionRequest, ExecutionOptions, Caller) async throws -> ExecutedAnswer

    /// Returns the operation with an ID.
    static func operation(_ id: AIOperationID) -> MediatedOperation {
        switch id {
        case .summarizeExcuse: MediatedOperation(AIOperations.summarizeExcuse)
        case .selectTone: MediatedOperation(AIOperations.selectTone)
        case .coaching: MediatedOperation(AIOperations.coaching)
        case .patterns: MediatedOperation(AIOperations.patterns)
        case .digest: MediatedOperation(AIOperations.digest)
        case .predictCompletion: MediatedOperation(AIOperations.predictCompletion)
        case .pushBack: MediatedOperation(AIOperations.pushBack)
        case .askCoach: MediatedOperation(AIOperations.askCoach)
        }
    }

    private init<Question: NagRelatedQuestion & ExecutedQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>
    ) {
        self.init(operation) { mediator, question, options, family, drafting, caller in
            try await mediator.answer(operation, question, options, in: family, drafting: drafting, for: caller)
        }
    }

    private init<Question: FamilyRelatedQuestion & ExecutedQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>
    ) {
        self.init(operation) { mediator, question, options, _, _, caller in
            try await mediator.answer(operation, question, options, for: caller)
        }
    }

    /// A function that answers a question. The `FamilyID` is the one that `Mediator.answer` expects of the question's
    /// nag; nil for any.
    private typealias AnswerFunction<Question, Response: WireInput & WireMembers & Hashable> = (
        Mediator, Question, ExecutionOptions, FamilyID?, PushBackDrafting?, Caller
    ) async throws -> AIAnswer<Response>

    private init<Question: ExecutedQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ answer: @escaping AnswerFunction<Question, Response>
    ) {
        register = { mediator, routes in
            guard let call = API.aiCall(for: operation) else { preconditionFailure("\(operation.id) has no endpoint") }
            Self.register(call, mediator, routes, answer)
        }
        execute = { mediator, request, options, caller in
            let answer = try await answer(mediator, Question(request), options, request.familyID, nil, caller)
            guard let report = answer.execution else {
                throw PostgresError.unexpectedShape("an answer without a report")
            }
            return ExecutedAnswer(
                text: operation.wording.map { answer.response[keyPath: $0.text] } ?? "",
                result: try JSONObject(json: JSONValue(parsing: answer.response.jsonBytes.span)), report: report,
                trace: answer.traceID)
        }
    }

    private static func register<Call: AICall>(
        _ call: Call, _ mediator: Mediator, _ routes: RouteTable,
        _ answer: @escaping AnswerFunction<Call.Question, Call.Response>
    ) {
        routes.signedIn(call.endpoint) { caller, received in
            let request = call.decodeRequest(received.parameters, received.body)
            return try await answer(
                mediator, request.question, request.options, nil,
                request.wantsDraft ? PushBackDrafting(services: mediator.services) : nil, caller)
        }
    }
}

/// A question that can be made of the request to `execute`, which has the same form for all operations.
private protocol ExecutedQuestion: AIQuestion {
    /// - Throws: 422 when the request lacks a field that the question needs, or its text is too long or too short.
    init(_ request: ExecutionRequest) throws(APIError)
}

extension NagQuestion: ExecutedQuestion {
    fileprivate init(_ request: ExecutionRequest) throws(APIError) { self.init(nagID: try request.requiredNag()) }
}

extension ExcuseQuestion: ExecutedQuestion {
    fileprivate init(_ request: ExecutionRequest) throws(APIError) {
        self.init(text: try request.requiredText(ExcuseSummaryRequest.textLengths), nagID: try request.requiredNag())
    }
}

extension MemberQuestion: ExecutedQuestion {
    fileprivate init(_ request: ExecutionRequest) throws(APIError) {
        self.init(userID: try request.requiredUser(), familyID: request.familyID)
    }
}

extension FamilyQuestion: ExecutedQuestion {
    fileprivate init(_ request: ExecutionRequest) throws(APIError) { self.init(familyID: request.familyID) }
}

extension CoachQuestion: ExecutedQuestion {
    fileprivate init(_ request: ExecutionRequest) throws(APIError) {
        self.init(familyID: request.familyID, text: try request.requiredText(CoachQuestionRequest.lengthRange))
    }
}

extension ExecutionRequest {
    /// - Parameter lengths: the operation's allowed numbers of Unicode scalars.
    fileprivate func requiredText(_ lengths: ClosedRange<Int>) throws(APIError) -> String {
        guard let text else { throw .questionLacks("text") }
        guard lengths.contains(text.unicodeScalars.count) else { throw .questionIsTooLong(lengths.upperBound) }
        return text
    }

    fileprivate func requiredNag() throws(APIError) -> NagID {
        guard let nagID else { throw .questionLacks("nag_id") }
        return nagID
    }

    fileprivate func requiredUser() throws(APIError) -> UserID {
        guard let userID else { throw .questionLacks("user_id") }
        return userID
    }
}
