import Contract
import Domain
import JSON
import NagzAI
import Postgres

/// An AI operation as the server serves it, whatever its question and response: at its own endpoint, and as one of all
/// operations at `execute`.
struct MediatedOperation {
    /// The result that `execute` responds with, besides ids.
    struct Executed {
        /// The produced text; empty for figures.
        let text: String
        let result: JSONObject
        let report: ExecutionReport
    }

    let register: (Mediator, RouteTable) -> Void
    let execute: (Mediator, ExecutionRequest, ExecutionOptions, Caller) async throws -> Executed

    static func of(_ id: AIOperationID) -> MediatedOperation {
        switch id {
        case .summarizeExcuse:
            MediatedOperation(AIOperations.summarizeExcuse, text: \.summary) {
                ExcuseQuestion(text: try $0.requiredText(), nagID: try $0.requiredNag())
            }
        case .selectTone:
            MediatedOperation(AIOperations.selectTone, text: \.reason) { NagQuestion(nagID: try $0.requiredNag()) }
        case .coaching:
            MediatedOperation(AIOperations.coaching, text: \.tip) { NagQuestion(nagID: try $0.requiredNag()) }
        case .predictCompletion:
            MediatedOperation(AIOperations.predictCompletion, text: { _ in "" }) {
                NagQuestion(nagID: try $0.requiredNag())
            }
        case .pushBack:
            MediatedOperation(AIOperations.pushBack, text: { $0.message ?? "" }) {
                NagQuestion(nagID: try $0.requiredNag())
            }
        case .patterns:
            MediatedOperation(AIOperations.patterns, text: { _ in "" }) {
                MemberQuestion(userID: try $0.requiredUser(), familyID: $0.familyID)
            }
        case .digest:
            MediatedOperation(AIOperations.digest, text: \.summaryText) { FamilyQuestion(familyID: $0.familyID) }
        case .askCoach:
            MediatedOperation(AIOperations.askCoach, text: \.answer) {
                CoachQuestion(familyID: $0.familyID, text: try $0.requiredText(CoachQuestionRequest.lengths))
            }
        }
    }

    /// - Parameters:
    ///   - text: the text of a response.
    ///   - question: the operation's question, from the form that all of them share.
    private init<Question: AboutNag, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, text: @escaping (Response) -> String,
        question: @escaping (ExecutionRequest) throws -> Question
    ) {
        self.init(operation, text, question) { mediator, question, options, family, drafting, caller in
            try await mediator.answer(operation, question, options, in: family, drafting: drafting, for: caller)
        }
    }

    private init<Question: AboutFamily, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, text: @escaping (Response) -> String,
        question: @escaping (ExecutionRequest) throws -> Question
    ) {
        self.init(operation, text, question) { mediator, question, options, _, _, caller in
            try await mediator.answer(operation, question, options, for: caller)
        }
    }

    private typealias Answering<Question, Response: WireInput & WireMembers & Hashable> = (
        Mediator, Question, ExecutionOptions, FamilyID?, PushBackDrafting?, Caller
    ) async throws -> AIAnswer<Response>

    private init<Question: AIQuestion, Response: WireInput & WireMembers & Hashable>(
        _ operation: AIOperation<Question, Response>, _ text: @escaping (Response) -> String,
        _ question: @escaping (ExecutionRequest) throws -> Question, _ answer: @escaping Answering<Question, Response>
    ) {
        register = { mediator, routes in
            guard let call = API.call(of: operation) else { preconditionFailure("\(operation.id) has no endpoint") }
            Self.register(call, mediator, routes, answer)
        }
        execute = { mediator, asked, options, caller in
            let answer = try await answer(mediator, question(asked), options, asked.familyID, nil, caller)
            guard let report = answer.execution else {
                throw PostgresError.unexpectedShape("an answer without a report")
            }
            return Executed(
                text: text(answer.response),
                result: try JSONObject(json: JSONValue(parsing: answer.response.jsonBytes.span)), report: report)
        }
    }

    private static func register<Call: AICall>(
        _ call: Call, _ mediator: Mediator, _ routes: RouteTable,
        _ answer: @escaping Answering<Call.Question, Call.Response>
    ) {
        routes.signedIn(call.endpoint) { caller, received in
            let asked = call.asked(received.parameters, received.body)
            return try await answer(
                mediator, asked.question, asked.options, nil,
                asked.wantsDraft ? PushBackDrafting(services: mediator.services) : nil, caller)
        }
    }
}

extension ExecutionRequest {
    fileprivate func requiredText(_ lengths: ClosedRange<Int> = 1...longestText) throws(APIError) -> String {
        guard let text else { throw .questionLacks("text") }
        guard lengths.contains(text.unicodeScalars.count) else { throw .questionIsTooLong }
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
