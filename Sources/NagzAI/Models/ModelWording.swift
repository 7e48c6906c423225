/// The wording of an operation's response by a model. It replaces the response's text and nothing else: numbers, tones,
/// categories and decisions are the rules'.
public struct ModelWording<Question: AIQuestion, Response: Sendable>: Sendable {
    /// Returns the facts for the model's prompt; nil for a response that has no text.
    public let facts: @Sendable (Heuristics, Question, Question.Facts, _ familyNames: [String]) -> PromptFacts?
    /// The text that the model's takes the place of.
    public let text: any WritableKeyPath<Response, String> & Sendable

    public init(
        _ text: any WritableKeyPath<Response, String> & Sendable,
        facts: @escaping @Sendable (Heuristics, Question, Question.Facts, _ familyNames: [String]) -> PromptFacts?
    ) {
        self.text = text
        self.facts = facts
    }
}

/// The author of an answer's words.
public struct Authorship: Hashable, Sendable {
    public var provider: ProviderName
    /// The model's name; nil if the rules are the author.
    public var model: String?
    /// The reason for which the requested author did not write; nil if it did.
    public var fallback: FallbackReason?
    /// The model that the question was sent to; nil where none was.
    public var asked: AskedModel?

    public init(
        _ provider: ProviderName = .heuristic, model: String? = nil, fallback: FallbackReason? = nil,
        asked: AskedModel? = nil
    ) {
        self.provider = provider
        self.model = model
        self.fallback = fallback
        self.asked = asked
    }

    /// A model whose text was used.
    public init(_ asked: AskedModel) {
        self.init(asked.provider, model: asked.name, asked: asked)
    }

    /// Returns the confidence of an answer, 0 to 1.
    /// - Parameter own: the answer's own; nil if it has none.
    public func confidence(_ own: Double?) -> Double {
        if fallback != nil { return 0.5 }
        return own ?? (provider == .heuristic ? 0.7 : 0.8)
    }
}

/// A reason for which the rules answer a question that asked for a model.
public enum FallbackReason: Error, Hashable, Sendable {
    /// The person's preference `ai_mode` uses no such model.
    case mode
    /// The model that is there does not word answers of this kind.
    case taskNotCovered
    case unavailable
    /// The model was asked, and failed.
    case error
    /// The model took too long.
    case latencyBudget
    /// The facts are not those any more that the model was sent.
    case factsChanged
    case outputRejected(OutputCheck.Refusal)

    public init(_ fault: ModelFault) {
        switch fault {
        case .unavailable, .unreachable: self = .unavailable
        case .timedOut: self = .latencyBudget
        case .failed, .unreadable, .tooLong, .keyRefused, .limited, .refused, .cancelled: self = .error
        }
    }

    /// The reason as reports have it.
    public var text: String {
        switch self {
        case .mode: "mode"
        case .taskNotCovered: "task_not_covered"
        case .unavailable: "unavailable"
        case .error: "error"
        case .latencyBudget: "latency_budget"
        case .factsChanged: "facts_changed"
        case .outputRejected(let refusal): refusal.reason
        }
    }
}
