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
    private let check: OutputCheck
    private let calls: Lane<UserID>

    init(_ services: Services, prompts: PromptBook) {
        self.services = services
        self.prompts = prompts
        check = OutputCheck(prompts: prompts, phrasebook: services.heuristics.phrasebook)
        calls = Lane(services.database.poller, limit: services.models.callLimit, limitPerKey: 2, queueLimit: 32)
    }

    /// - Parameters:
    ///   - told: what the model is told.
    ///   - familyNames: of the people around, none of which the model is told.
    func reply(
        to told: PromptFacts, familyNames: [String], from model: ChosenModel, for caller: Caller
    ) async throws -> ModelReply {
        var result: Result<String, ModelReply.Problem>
        do {
            let text = try await calls.run(caller.userID) { () async throws -> String in
                try await self.text(for: told, from: model, caller)
            }
            result = check.refusal(of: text, for: told).map { .failure(.refused($0)) } ?? .success(told.withName(text))
        } catch let fault as ModelFault {
            result = .failure(.fault(fault))
        } catch is APIError {
            result = .failure(.fault(.unavailable(.busy)))
        }
        return ModelReply(model: model, told: told, familyNames: familyNames, result: result)
    }

    private func text(for told: PromptFacts, from model: ChosenModel, _ caller: Caller) async throws -> String {
        let provider: HTTPModelProvider
        switch model {
        case .gateway:
            guard let gateway = services.models.server else { throw ModelFault.unavailable(.notConfigured) }
            provider = gateway
        case .own(let stored):
            guard let key = services.auditKeyring.flatMap(stored.opened) else {
                throw ModelFault.unavailable(.notConfigured)
            }
            _ = try await services.database.query(AIKeyStatements.use(stored, at: caller.now))
            provider = services.models.provider(key)
        }
        let request = prompts.request(
            for: told, contextTokens: provider.capabilities.contextTokens, traceparent: traceparent(caller))
        guard provider.capabilities.covers(request) else { throw ModelFault.tooLong }
        return try await provider.generate(request).text
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
    /// Why its text cannot be used.
    enum Problem: Error {
        case fault(ModelFault)
        case refused(OutputCheck.Refusal)

        var fallback: FallbackReason {
            switch self {
            case .fault(let fault): FallbackReason(fault)
            case .refused(let refusal): .outputRejected(refusal)
            }
        }

        func code(at reach: Reach) -> ExecutionCode {
            switch self {
            case .fault(let fault): fault.code(at: reach)
            case .refused: ModelFault.refused.code(at: reach)
            }
        }
    }

    let model: ChosenModel
    let told: PromptFacts
    let familyNames: [String]
    /// The text for people.
    let result: Result<String, Problem>
    /// What the question's confirmation was used up for; nil if it needed none.
    var confirmed: String?
}
