import Audit
import Contract
import Domain
import JSON
import NagzAI
import Postgres

/// Executions: questions that say what is to answer them, their history, AI sessions and confirmations.
final class Executions {
    let services: Services
    private let mediator: Mediator

    init(_ services: Services, _ mediator: Mediator) {
        self.services = services
        self.mediator = mediator
    }

    /// The group `executions`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.execute, execute)
        routes.signedIn(API.listExecutions, list)
        routes.signedIn(API.deleteExecutions, deleteEarlier)
        routes.responding(API.exportExecutions, export)
        routes.signedIn(API.declineConfirmation, decline)
        routes.signedIn(API.getExecution, get)
        routes.signedIn(API.deleteExecution, delete)
        routes.signedIn(API.beginAISession, beginSession)
        routes.signedIn(API.endAISession, endSession)
    }

    // MARK: Asking

    func execute(
        _ caller: Caller, _ call: Call<NoParameters, Asking<ExecutionRequest>>
    ) async throws -> ExecutionAnswer {
        var (asked, options) = (call.body.request, call.body.options)
        if options.taskType == nil { options.isTaskUnknown = true }
        switch asked.operation {
        case .summarizeExcuse:
            guard let text = asked.text else { throw APIError.questionLacks("text") }
            let question = ExcuseQuestion(text: text, nagID: try nag(asked))
            return try answer(
                await mediator.answer(AIOperations.summarizeExcuse, question, options, in: asked.familyID, for: caller),
                \.summary, options, caller)
        case .selectTone:
            return try answer(
                await mediator.answer(
                    AIOperations.selectTone, NagQuestion(nagID: nag(asked)), options, in: asked.familyID, for: caller),
                \.reason, options, caller)
        case .coaching:
            return try answer(
                await mediator.answer(
                    AIOperations.coaching, NagQuestion(nagID: nag(asked)), options, in: asked.familyID, for: caller),
                \.tip, options, caller)
        case .predictCompletion:
            return try answer(
                await mediator.answer(
                    AIOperations.predictCompletion, NagQuestion(nagID: nag(asked)), options, in: asked.familyID,
                    for: caller), { _ in "" }, options, caller)
        case .pushBack:
            return try answer(
                await mediator.answer(
                    AIOperations.pushBack, NagQuestion(nagID: nag(asked)), options, in: asked.familyID, for: caller),
                { $0.message ?? "" }, options, caller)
        case .patterns:
            guard let user = asked.userID else { throw APIError.questionLacks("user_id") }
            return try answer(
                await mediator.answer(
                    AIOperations.patterns, MemberQuestion(userID: user, familyID: asked.familyID), options, for: caller),
                { _ in "" }, options, caller)
        case .askCoach:
            guard let text = asked.text else { throw APIError.questionLacks("text") }
            guard CoachQuestionRequest.lengths.contains(text.unicodeScalars.count) else {
                throw APIError.questionIsTooLong
            }
            return try answer(
                await mediator.answer(
                    AIOperations.askCoach, CoachQuestion(familyID: asked.familyID, text: text), options, for: caller),
                \.answer, options, caller)
        case .digest:
            return try answer(
                await mediator.answer(
                    AIOperations.digest, FamilyQuestion(familyID: asked.familyID), options, for: caller),
                \.summaryText, options, caller)
        }
    }

    private func nag(_ asked: ExecutionRequest) throws(APIError) -> NagID {
        guard let nag = asked.nagID else { throw APIError.questionLacks("nag_id") }
        return nag
    }

    private func answer<Response: WireInput & WireMembers & Hashable>(
        _ answer: AIAnswer<Response>, _ text: (Response) -> String, _ options: ExecutionOptions, _ caller: Caller
    ) throws -> ExecutionAnswer {
        guard let report = answer.execution else { throw PostgresError.unexpectedShape("an answer without a report") }
        return ExecutionAnswer(
            traceID: caller.context.trace, questionID: options.questionID,
            response: ExecutedResponse(
                content: text(answer.response), model: report.model ?? report.provider,
                latencyMilliseconds: report.latencyMilliseconds),
            result: try JSONObject(json: JSONValue(parsing: answer.response.jsonBytes.span)), execution: report)
    }

    // MARK: AI sessions

    func beginSession(_ caller: Caller, _ call: Call<NoParameters, AISessionCreate>) async throws -> AISession {
        let token = AITokens(random: services.random).make()
        let family = call.body.familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let count = DailyCount(limit: .aiSessions, user: caller.userID)
            let act = Act(
                kind: .aiSessionBegun, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                stampedRows: 0,
                statements: [
                    ExecutionStatements.begin(AITokens.digest(token), of: caller.userID, at: call.now),
                    try await count.increment(at: call.now, queries),
                ])
            return .perform(act, AISession(sessionID: token, expiresAt: call.now + AITokens.sessionTime))
        }
    }

    func endSession(_ caller: Caller, _ call: Call<NoParameters, AISessionName>) async throws -> NoAnswer {
        let digest = AITokens.digest(call.body.sessionID)
        let family = try await services.access.member(caller, orThrow: .noSuchAISession, services.database).familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let rows = try await queries.query(ExecutionStatements.session(digest, of: caller.userID, at: call.now))
            guard !rows.isEmpty else { throw APIError.noSuchAISession }
            let act = Act(
                kind: .aiSessionEnded, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                stampedRows: 0, statements: [ExecutionStatements.end(session: digest)])
            return .perform(act, NoAnswer())
        }
    }
}
