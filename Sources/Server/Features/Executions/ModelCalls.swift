import Contract
import Domain
import ModelProviders
import NagzAI
import Postgres

/// Asks models to word answers. A question is sent once, whatever the result, and no database session or lock is held
/// while the model answers.
final class ModelCalls {
    private let services: Services
    private let prompts: PromptBook
    private let callLimiter: KeyedLimiter<UserID>

    init(_ services: Services, prompts: PromptBook) {
        self.services = services
        self.prompts = prompts
        callLimiter = KeyedLimiter(services.database.poller, sharing: services.models.shared.questionTurns)
    }

    /// Checks the AI session, consumes the confirmation, and asks the permitted model.
    /// - Parameters:
    ///   - facts: the facts that are sent to the model.
    ///   - memberNames: the names of the families' members. The reply keeps them, so that the caller can create the
    ///     same facts again. They are empty for drafts.
    /// - Returns: the reply, whose `result` is a failure if the model could not be asked or gave no usable text; nil if
    ///   the question may not be sent. The ledger write after this call decides about the answer or the refusal.
    /// - Throws: `PostgresError`.
    func ask(
        _ attempt: ExecutionAttempt, _ permit: ExecutionPermit, _ facts: PromptFacts, memberNames: [String]
    ) async throws -> ModelReply? {
        guard let model = permit.model else { return nil }
        let (tokens, database) = (AITokens(random: services.random), services.database)
        guard case .valid = try await attempt.checkTokens(permit, tokens, confirmedPrompt: nil, database) else {
            return nil
        }
        let prompt = permit.promptToConfirm
        if let prompt, try await !attempt.consumeConfirmation(of: prompt, database) { return nil }
        let result = try await call(model, with: facts, for: attempt.caller)
        attempt.recordStage(.executed)
        return ModelReply(
            model: model, facts: facts, memberNames: memberNames, result: result, confirmedPrompt: prompt,
            decidedRoute: permit.confirmedRoute, stages: attempt.stages)
    }

    private func call(
        _ model: ChosenModel, with facts: PromptFacts, for caller: Caller
    ) async throws -> Result<ModelResult, ModelProblem> {
        do {
            return try await callLimiter.run(caller.userID) { () async throws -> Result<ModelResult, ModelProblem> in
                guard let provider = try await self.providerRecordingUse(of: model, caller) else {
                    return .failure(.fault(.unavailable(.notConfigured)))
                }
                let writer = ModelWriter(
                    provider, prompts: self.prompts, phrasebook: self.services.heuristics.phrasebook)
                return await writer.write(facts)
            }
        } catch is APIError {
            return .failure(.fault(.unavailable(.busy)))
        }
    }

    /// Returns the provider of a model, and records the use of a person's key; nil for a key that can no longer be
    /// opened, and without a gateway.
    private func providerRecordingUse(of model: ChosenModel, _ caller: Caller) async throws -> HTTPModelProvider? {
        switch model {
        case .gateway: return services.models.serverGateway
        case .ownKey(let stored):
            guard let key = services.auditKeyring.flatMap(stored.opened) else { return nil }
            _ = try await services.database.query(AIKeyStatements.markUsed(stored, at: caller.now))
            return services.models.provider(key)
        }
    }
}

/// A model's reply to a question. It is a class, because every question reserves memory for a reply, and few have one.
final class ModelReply: Sendable {
    let model: ChosenModel
    let facts: PromptFacts
    /// The names of the families' members; with them the caller can create the same facts again.
    let memberNames: [String]
    let result: Result<ModelResult, ModelProblem>
    /// The prompt for which the question's confirmation was consumed; nil if none was needed.
    let confirmedPrompt: String?
    /// The router's decision by which the model was asked.
    let decidedRoute: DecidedRoute
    /// The stages that the question had reached when the model replied.
    let stages: [StageTime]

    /// The model that the question was sent to; nil if it was sent to none.
    var askedModel: AskedModel? {
        switch result {
        case .success(let result): AskedModel(model.provider, model.name, model.reach, tokenCount: result.tokenCount)
        case .failure(let problem): problem.mayHaveBeenAsked ? AskedModel(model.provider, model.name, model.reach) : nil
        }
    }

    init(
        model: ChosenModel, facts: PromptFacts, memberNames: [String], result: Result<ModelResult, ModelProblem>,
        confirmedPrompt: String?, decidedRoute: DecidedRoute, stages: [StageTime]
    ) {
        self.model = model
        self.facts = facts
        self.memberNames = memberNames
        self.result = result
        self.confirmedPrompt = confirmedPrompt
        self.decidedRoute = decidedRoute
        self.stages = stages
    }
}
