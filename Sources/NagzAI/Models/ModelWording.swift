/// The part of an operation that lets a model word its response. The model replaces the text and nothing else: the
/// rules give numbers, tones, categories and decisions.
public struct ModelWording<Question: AIQuestion, Response: Sendable>: Sendable {
    /// Returns the facts for the model's prompt; nil for a response that no model words, such as a refused push-back.
    public let facts: @Sendable (Heuristics, Question, Question.Facts, _ memberNames: [String]) -> PromptFacts?
    /// The text of the response that the model's text replaces.
    public let text: any WritableKeyPath<Response, String> & Sendable

    public init(
        _ text: any WritableKeyPath<Response, String> & Sendable,
        facts: @escaping @Sendable (Heuristics, Question, Question.Facts, _ memberNames: [String]) -> PromptFacts?
    ) {
        self.text = text
        self.facts = facts
    }
}

/// The author of an answer's text: the rules or a model.
public struct Authorship: Hashable, Sendable {
    public var provider: ProviderName
    /// The model's name; nil if the rules are the author.
    public var model: String?
    /// The reason why the rules answered instead of a requested model; nil if no model was requested, or if it
    /// answered.
    public var fallback: FallbackReason?
    /// The model that the question was sent to; nil if it was sent to none.
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

    /// Creates the authorship of a model whose text was used.
    public init(_ asked: AskedModel) {
        self.init(asked.provider, model: asked.name, asked: asked)
    }

    /// Returns the confidence of an answer, 0 to 1: 0.5 if the rules answered instead of a requested model; otherwise
    /// that of the rules, by default 0.7 for their own text and 0.8 for a model's.
    /// - Parameter ruleConfidence: the confidence that the rules gave; nil if they gave none.
    public func confidence(_ ruleConfidence: Double?) -> Double {
        if fallback != nil { return 0.5 }
        return ruleConfidence ?? (provider == .heuristic ? 0.7 : 0.8)
    }
}

/// A reason why the rules answer a question that a model was to answer.
public enum FallbackReason: Error, Hashable, Sendable {
    /// The person's preference `ai_mode` does not allow the requested model.
    case mode
    /// The available model does not support the task.
    case taskNotCovered
    /// There is no such model, or the model or the server cannot be reached.
    case unavailable
    /// The model gave no usable answer, or the prompt was too long for it.
    case error
    /// The model took too long.
    case latencyBudget
    /// The facts changed after they were sent to the model.
    case factsChanged
    /// The model's text may not be shown.
    case outputRejected(OutputCheck.Refusal)

    public init(_ fault: ModelFault) {
        switch fault {
        case .unavailable, .unreachable: self = .unavailable
        case .timedOut: self = .latencyBudget
        case .failed, .unreadable, .tooLong, .keyRefused, .limited, .refused, .cancelled: self = .error
        }
    }

    /// The reason as `fallback_reason` of execution reports and drafts contains it.
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
