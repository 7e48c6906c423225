import Domain

/// The operations by name: in the feed, in the audit log and in a device's notes.
public enum AIOperationID: String, Sendable, CaseIterable {
    case summarizeExcuse = "summarize_excuse"
    case selectTone = "select_tone"
    case coaching, patterns, digest
    case predictCompletion = "predict_completion"
    case pushBack = "push_back"
}

/// One operation of the mediator, described once: what it is asked about, the facts it needs, its rule, and what is
/// recorded of its answer.
///
/// Everything that runs operations is generic over this: the engine of the heuristics, the device, the REST client, the
/// server's mediator and the command line.
public struct AIOperation<Question: AIQuestion, Response: Sendable>: Sendable {
    public let id: AIOperationID
    /// What the role matrix is asked about an operation on a nag.
    public let nagAct: NagAct
    /// How many of its question's facts the rule looks at.
    public let facts: FactDepth
    public let onDevice: OnDevice
    /// The rule: a pure function.
    public let rule: @Sendable (Heuristics, Question, Question.Facts) -> Outcome<Response>
    /// What the server records of an answer, from the facts that it rests on.
    public let record: @Sendable (Heuristics, Question, Question.Facts, Response) -> AIRecord

    public init(
        _ id: AIOperationID, nagAct: NagAct = .read, facts: FactDepth = .full, onDevice: OnDevice = .first,
        rule: @escaping @Sendable (Heuristics, Question, Question.Facts) -> Outcome<Response>,
        record: @escaping @Sendable (Heuristics, Question, Question.Facts, Response) -> AIRecord
    ) {
        self.id = id
        self.nagAct = nagAct
        self.facts = facts
        self.onDevice = onDevice
        self.rule = rule
        self.record = record
    }
}

/// How many of a question's facts a rule looks at.
public enum FactDepth: Sendable {
    /// None: it looks at the question alone.
    case none
    /// Of a nag's: recent misses and the streak.
    case tone
    /// All.
    case full
}

/// Whether a device answers an operation by itself.
public enum OnDevice: Sendable {
    /// Before it asks the server, where its cache holds the facts.
    case first
    /// Only where the server cannot be reached: the question is about the whole family.
    case whenOffline
    /// Never: an answer has to be recorded before the next.
    case never
}

/// What the feed and the audit log keep of an answer.
public struct AIRecord: Sendable {
    /// The feed's `prompt_type`, where it differs from the operation's id.
    public var promptType: String?
    public var tone: AITone
    /// What the feed shows; no excuse's words.
    public var summary: String
    /// The text that was produced; the audit log keeps its length and keyed digest only.
    public var content: String
    /// Counts the answer rests on.
    public var inputs: [(name: String, value: String)]
    public var classification: String
    /// Whether the answer uses up something that is bounded.
    public var countsOnce: Bool

    public init(
        promptType: String? = nil, tone: AITone = .neutral, summary: String, content: String = "",
        inputs: [(name: String, value: String)], classification: String, countsOnce: Bool = false
    ) {
        self.promptType = promptType
        self.tone = tone
        self.summary = summary
        self.content = content
        self.inputs = inputs
        self.classification = classification
        self.countsOnce = countsOnce
    }
}
