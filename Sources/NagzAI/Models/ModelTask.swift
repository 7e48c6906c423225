/// An operation whose text a model may write. The numbers, categories and tones of a response are never a model's.
public enum ModelTask: String, Sendable, CaseIterable {
    case summarizeExcuse = "summarize_excuse"
    case selectTone = "select_tone"
    case coaching
    case pushBack = "push_back"
    case digest
    /// A person's own question.
    case askCoach = "ask_coach"
    /// A person's words that become the draft of a nag.
    case intent

    public var kind: TaskKind {
        switch self {
        case .summarizeExcuse, .digest: .summarize
        // The answer is the rules': a model says it in other words.
        case .selectTone, .coaching, .pushBack, .askCoach: .rewrite
        case .intent: .intentToAction
        }
    }

    /// The longest text, in Unicode scalars; nil for an answer with a schema.
    public var maxLength: Int? {
        switch self {
        case .summarizeExcuse: 200
        case .selectTone, .coaching, .pushBack: 280
        case .askCoach: 600
        case .digest: 1_200
        case .intent: nil
        }
    }

    /// The number of tokens that a model may write.
    public var maxTokens: Int { self == .digest ? 400 : 160 }
}

extension AIOperationID {
    /// The task of a model that words the operation's text; nil for an operation of figures alone.
    public var modelTask: ModelTask? { ModelTask(rawValue: rawValue) }
}

/// A kind of task for a model, in the terms in which providers declare their capabilities.
public enum TaskKind: String, Sendable, CaseIterable {
    case intentToAction = "intent_to_action"
    case studyQuestions = "study_question_gen"
    case rewrite, summarize
    case textCompletion = "text_completion"
    case chat

    /// The kinds of tasks that operations ask a model for.
    public static let asked: [TaskKind] = {
        let kinds = Set(ModelTask.allCases.map(\.kind))
        return allCases.filter(kinds.contains)
    }()

    /// The temperature at which a model chooses its words, from 0.
    public var temperature: Double {
        switch self {
        case .intentToAction: 0
        case .studyQuestions: 0.7
        case .rewrite: 0.5
        case .summarize, .textCompletion, .chat: 0.3
        }
    }
}
