/// A task for which a model may write the text. The rules alone decide the numbers and tones of a response.
public enum ModelTask: String, Sendable, CaseIterable {
    case summarizeExcuse = "summarize_excuse"
    /// Words the reason for the tone that the rules selected.
    case selectTone = "select_tone"
    /// Words the tip that the rules selected.
    case coaching
    /// Words the message of a push-back that the rules granted.
    case pushBack = "push_back"
    case digest
    /// Words the answer to a person's own question.
    case askCoach = "ask_coach"
    /// Drafts a nag from a person's words.
    case intent

    public var kind: TaskKind {
        switch self {
        case .summarizeExcuse, .digest: .summarize
        // The rules give the answer, and the model rewords it.
        case .selectTone, .coaching, .pushBack, .askCoach: .rewrite
        case .intent: .intentToAction
        }
    }

    /// The maximum length of the text in Unicode scalars; nil for an answer with a schema.
    public var maxLength: Int? {
        switch self {
        case .summarizeExcuse: 200
        case .selectTone, .coaching, .pushBack: 280
        case .askCoach: 600
        case .digest: 1_200
        case .intent: nil
        }
    }

    /// The maximum number of tokens that a model may write.
    public var maxTokens: Int { self == .digest ? 400 : 160 }
}

extension AIOperationID {
    /// The task for a model that words the operation's text; nil for an operation whose response has only figures.
    public var modelTask: ModelTask? { ModelTask(rawValue: rawValue) }
}

/// A kind of task for a model, in the terms in which providers declare their capabilities.
public enum TaskKind: String, Sendable, CaseIterable {
    /// Turns a person's words into an action, such as a nag.
    case intentToAction = "intent_to_action"
    /// Makes questions for learning; no task is of this kind.
    case studyQuestions = "study_question_gen"
    case rewrite, summarize
    case textCompletion = "text_completion"
    case chat

    /// The kinds of tasks that operations ask a model for.
    public static let requestedKinds: [TaskKind] = {
        let kinds = Set(ModelTask.allCases.map(\.kind))
        return allCases.filter(kinds.contains)
    }()

    /// The sampling temperature, from 0: at a higher one, a model varies its words more.
    public var temperature: Double {
        switch self {
        case .intentToAction: 0
        case .studyQuestions: 0.7
        case .rewrite: 0.5
        case .summarize, .textCompletion, .chat: 0.3
        }
    }
}
