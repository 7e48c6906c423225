import Contract
import Domain
import HTTP
import ModelProviders
import NagzAI
import Postgres

/// Has models word answers. A question is sent once, whatever becomes of it, and while it is under way no session or lock
/// of the database is held.
final class ModelCalls {
    private let services: Services
    private let prompts: PromptBook
    private let calls: Lane<UserID>

    init(_ services: Services, prompts: PromptBook) {
        self.services = services
        self.prompts = prompts
        calls = Lane(services.database.poller, limit: services.models.callLimit, limitPerKey: 2, queueLimit: 32)
    }

    /// - Parameters:
    ///   - told: what the model is told.
    ///   - familyNames: of the people around, none of which the model is told.
    /// - Throws: `PostgresError`.
    func reply(
        to told: PromptFacts, familyNames: [String], from model: ChosenModel, for caller: Caller
    ) async throws -> ModelReply {
        let result: Result<ModelResult, ModelProblem>
        do {
            result = try await calls.run(caller.userID) { () async throws -> Result<ModelResult, ModelProblem> in
                guard let provider = try await self.provider(of: model, caller) else {
                    return .failure(.fault(.unavailable(.notConfigured)))
                }
                let writer = ModelWriter(
                    provider, prompts: self.prompts, phrasebook: self.services.heuristics.phrasebook)
                return await writer.write(told, traceparent: self.traceparent(caller))
            }
        } catch is APIError {
            result = .failure(.fault(.unavailable(.busy)))
        }
        return ModelReply(model: model, told: told, familyNames: familyNames, result: result)
    }

    /// Nil for a key that cannot be opened any more.
    private func provider(of model: ChosenModel, _ caller: Caller) async throws -> HTTPModelProvider? {
        switch model {
        case .gateway: return services.models.server
        case .own(let stored):
            guard let key = services.auditKeyring.flatMap(stored.opened) else { return nil }
            _ = try await services.database.query(AIKeyStatements.use(stored, at: caller.now))
            return services.models.provider(key)
        }
    }

    private func traceparent(_ caller: Caller) -> String {
        let trace = caller.context.trace
        // The span has 64 random bits of its own.
        let span: Domain.RequestID = services.random.identifier(at: caller.now)
        return TraceContext(
            traceHigh: trace.high, traceLow: trace.low, span: span.low, parentSpan: nil, flags: 1
        ).traceparent
    }
}

/// What a model made of a question.
struct ModelReply {
    let model: ChosenModel
    let told: PromptFacts
    let familyNames: [String]
    let result: Result<ModelResult, ModelProblem>
    /// What the question's confirmation was used up for; nil if it needed none.
    var confirmed: String?
}
