import Audit
import Contract
import Domain
import JSON
import NagzAI
import Postgres

/// Executions: questions with options for who answers them, their history, AI sessions and confirmations.
final class Executions {
    let services: Services
    private let mediator: Mediator

    init(_ services: Services, _ mediator: Mediator) {
        self.services = services
        self.mediator = mediator
    }

    /// Registers the operations of the tag `executions`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.execute, execute)
        routes.signedIn(API.listExecutions, list)
        routes.signedIn(API.deleteExecutions, deleteEarlier)
        routes.signedInResponding(API.exportExecutions, export)
        routes.signedIn(API.declineConfirmation, decline)
        routes.signedIn(API.getExecution, get)
        routes.signedIn(API.deleteExecution, delete)
        routes.signedIn(API.beginAISession, beginSession)
        routes.signedIn(API.endAISession, endSession)
    }

    // MARK: Asking

    /// Answers a question, with the options that the client names.
    func execute(
        _ caller: Caller, _ call: Call<NoParameters, AIEnvelope<ExecutionRequest>>
    ) async throws -> ExecutionAnswer {
        let request = call.body.request
        var options = call.body.options
        if options.taskType == nil { options.isTaskUnknown = true }
        options.storesTrace = true
        let executed = try await MediatedOperation.operation(request.operation)
            .execute(mediator, request, options, caller)
        let report = executed.report
        return ExecutionAnswer(
            traceID: executed.trace ?? caller.context.trace, questionID: options.questionID,
            response: ExecutedResponse(
                content: executed.text, model: report.model ?? report.provider,
                latencyMilliseconds: report.latencyMilliseconds),
            result: executed.result, execution: report)
    }

    // MARK: AI sessions

    func beginSession(_ caller: Caller, _ call: Call<NoParameters, AISessionCreate>) async throws -> AISession {
        let token = AITokens(random: services.random).makeToken()
        let family = call.body.familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let count = DailyCount(limit: .aiSessions, user: caller.userID)
            let act = Act(
                kind: .aiSessionBegun, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                stampedRows: 0,
                statements: [
                    ExecutionStatements.insertSession(AITokens.digest(token), of: caller.userID, at: caller.now),
                    try await count.checkedIncrement(at: caller.now, queries),
                ])
            return .perform(act, AISession(sessionID: token, expiresAt: caller.now + AITokens.sessionIdleLifetime))
        }
    }

    func endSession(_ caller: Caller, _ call: Call<NoParameters, AISessionName>) async throws -> NoAnswer {
        let digest = AITokens.digest(call.body.sessionID)
        let family = try await services.access.member(caller, orThrow: .noSuchAISession, services.database).familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let rows = try await queries.query(ExecutionStatements.session(digest, of: caller.userID, at: caller.now))
            guard !rows.isEmpty else { throw APIError.noSuchAISession }
            let act = Act(
                kind: .aiSessionEnded, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                stampedRows: 0, statements: [ExecutionStatements.delete(session: digest)])
            return .perform(act, NoAnswer())
        }
    }
}
