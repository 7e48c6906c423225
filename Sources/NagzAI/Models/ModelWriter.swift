import Domain

/// Asks one model for a text, once, and checks what it wrote.
public struct ModelWriter {
    public let provider: any ModelProvider
    private let prompts: PromptBook
    private let check: OutputCheck

    /// - Parameter phrasebook: the phrasebook, whose avoid list names words that are never shown.
    public init(_ provider: any ModelProvider, prompts: PromptBook, phrasebook: Phrasebook) {
        (self.provider, self.prompts) = (provider, prompts)
        check = OutputCheck(prompts: prompts, phrasebook: phrasebook)
    }

    /// Returns whether the model supports the task.
    public func covers(_ task: ModelTask) -> Bool { provider.capabilities.kinds.contains(task.kind) }

    /// Returns the model's result, or the reason why there is none. A name that the prompt withheld is inserted into
    /// the text.
    public func write(
        _ facts: PromptFacts, traceparent: String? = nil
    ) async -> Result<ModelResult, ModelProblem> {
        let request = prompts.request(
            for: facts, contextTokens: provider.capabilities.contextTokens, traceparent: traceparent)
        guard provider.capabilities.covers(request) else { return .failure(.promptTooLong) }
        let result: ModelResult
        do throws(ModelFault) { result = try await provider.generate(request) } catch {
            return .failure(.fault(error))
        }
        let refusal: OutputCheck.Refusal?
        if let fields = result.structuredFields {
            refusal = check.refusal(ofFields: fields, for: facts)
        } else {
            refusal = check.refusal(of: result.text, for: facts)
        }
        if let refusal { return .failure(.refused(refusal)) }
        return .success(
            ModelResult(
                text: facts.insertingName(into: result.text), provider: result.provider, model: result.model,
                latency: result.latency, tokenCount: result.tokenCount, structuredFields: result.structuredFields))
    }
}

/// A reason why a model's text cannot be used.
public enum ModelProblem: Error, Hashable, Sendable {
    /// The prompt is longer than the model's context, so it was not sent.
    case promptTooLong
    /// The model gave no text.
    case fault(ModelFault)
    /// The text may not be shown.
    case refused(OutputCheck.Refusal)

    /// Whether the question may have been sent to the model.
    public var mayHaveBeenAsked: Bool {
        switch self {
        case .promptTooLong, .fault(.unavailable): false
        case .fault, .refused: true
        }
    }

    /// The reason why the rules answer instead.
    public var fallback: FallbackReason {
        switch self {
        case .promptTooLong: FallbackReason(.tooLong)
        case .fault(let fault): FallbackReason(fault)
        case .refused(let refusal): .outputRejected(refusal)
        }
    }

    /// The number of seconds that the provider asks to wait; nil if it names none.
    public var secondsToWait: Int? {
        if case .fault(.limited(let seconds)) = self { seconds } else { nil }
    }

    /// Returns the code for the person who asked. It is used if the rules may not answer.
    public func code(at reach: Reach) -> ExecutionCode {
        switch self {
        case .promptTooLong: ModelFault.tooLong.code(at: reach)
        case .fault(let fault): fault.code(at: reach)
        case .refused: ModelFault.refused.code(at: reach)
        }
    }
}
