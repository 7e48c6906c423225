import Domain
import NagzAI

#if canImport(FoundationModels)
import FoundationModels
#endif

/// The operating system's model on Apple's devices; elsewhere it is never available.
public final class FoundationModelsProvider: ModelProvider {
    public let name = ProviderName.foundationModels
    public let reach = Reach.device
    public let capabilities = ProviderCapabilities.appleIntelligence

    private let now: () -> ContinuousClock.Instant

    /// - Parameter now: returns the time of a monotonic clock.
    public init(now: @escaping () -> ContinuousClock.Instant = { .now }) { self.now = now }

    #if canImport(FoundationModels)
    public func availability() async -> Availability {
        guard #available(macOS 26, iOS 26, *) else { return .unavailable(.unsupported) }
        switch SystemLanguageModel.default.availability {
        case .available: return .available
        case .unavailable: return .unavailable(.notConfigured)
        }
    }

    public func generate(_ request: ModelRequest) async throws(ModelFault) -> ModelResult {
        if case .unavailable(let reason) = await availability() { throw .unavailable(reason) }
        // Schemas of this framework are made at compile time, so it cannot answer with the request's schema.
        guard request.schema == nil, #available(macOS 26, iOS 26, *) else { throw .unavailable(.unsupported) }
        let startedAt = now()
        let options = GenerationOptions(temperature: request.temperature, maximumResponseTokens: request.maxTokens)
        let text: String
        do {
            let session = LanguageModelSession(instructions: request.systemPrompt)
            text = trimmed(try await session.respond(to: request.userPrompt, options: options).content)
        } catch LanguageModelSession.GenerationError.exceededContextWindowSize {
            throw .tooLong
        } catch LanguageModelSession.GenerationError.guardrailViolation {
            throw .refused
        } catch {
            throw .unreadable
        }
        guard !text.isEmpty else { throw .unreadable }
        return ModelResult(
            text: text, provider: name, model: "system", latency: now() - startedAt, tokenCount: nil)
    }
    #else
    public func availability() async -> Availability { .unavailable(.unsupported) }

    public func generate(_ request: ModelRequest) async throws(ModelFault) -> ModelResult {
        throw .unavailable(.unsupported)
    }
    #endif
}
