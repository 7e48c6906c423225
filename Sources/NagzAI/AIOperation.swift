import Domain

/// The ID of an operation, as stored in the feed, the audit log and a device's cache.
public enum AIOperationID: String, Sendable, CaseIterable {
    /// Summarises the text of an excuse.
    case summarizeExcuse = "summarize_excuse"
    /// Selects the tone for a nag.
    case selectTone = "select_tone"
    /// Gives a tip about a nag.
    case coaching
    /// Finds weekdays on which a person often misses nags.
    case patterns
    /// Summarises the last seven days of a family or of one member.
    case digest
    /// Estimates how likely a nag is to be completed.
    case predictCompletion = "predict_completion"
    /// Decides whether an insistent reminder of a nag is allowed now, and words it.
    case pushBack = "push_back"
    /// Answers a person's own question to the coach.
    case askCoach = "ask_coach"
}

/// One operation of the mediator: its rule, the facts that the rule needs, and the record of a response.
///
/// All code that runs operations is generic over this type: the heuristics, the device, the REST client, the server's
/// mediator and the command line.
public struct AIOperation<Question: AIQuestion, Response: Sendable>: Sendable {
    public let id: AIOperationID
    /// The permission that an operation on a nag requires.
    public let nagAct: NagAct
    /// The amount of facts that the rule uses.
    public let factDepth: FactDepth
    /// When a device runs the operation itself.
    public let deviceExecution: DeviceExecution
    /// The rule, a pure function.
    public let rule: @Sendable (Heuristics, Question, Question.Facts) -> Outcome<Response>
    /// Returns the record that the server stores of a response and its facts.
    public let record: @Sendable (Heuristics, Question, Question.Facts, Response) -> AIRecord
    /// The part that lets a model word the response's text; nil for an operation whose response has only figures.
    public let wording: ModelWording<Question, Response>?

    public init(
        _ id: AIOperationID, nagAct: NagAct = .read, factDepth: FactDepth = .full,
        deviceExecution: DeviceExecution = .first,
        rule: @escaping @Sendable (Heuristics, Question, Question.Facts) -> Outcome<Response>,
        record: @escaping @Sendable (Heuristics, Question, Question.Facts, Response) -> AIRecord,
        wording: ModelWording<Question, Response>? = nil
    ) {
        self.id = id
        self.nagAct = nagAct
        self.factDepth = factDepth
        self.deviceExecution = deviceExecution
        self.rule = rule
        self.record = record
        self.wording = wording
    }
}

/// The amount of facts that a rule uses.
public enum FactDepth: Sendable {
    /// No facts, only the question.
    case none
    /// Of the facts about a nag, only the recent misses and the streak.
    case tone
    /// All facts.
    case full
}

/// When a device runs an operation itself.
public enum DeviceExecution: Sendable {
    /// Before it asks the server, if its cache has the facts.
    case first
    /// Only if the server, which has the facts of the whole family, cannot be reached, or if the person's mode lets
    /// only the device answer.
    case whenOffline
    /// Never, because each response must be recorded before the next.
    case never
}

/// The record of a response in the feed and the audit log.
public struct AIRecord: Sendable {
    /// The feed's `prompt_type`, if it differs from the operation's ID.
    public var promptType: String?
    public var tone: AITone
    /// The text shown in the feed. It contains no words of an excuse.
    public var summary: String
    /// The generated text; the audit log stores only its length and keyed digest.
    public var content: String
    /// The numbers on which the response is based, by name.
    public var inputs: [(name: String, value: String)]
    /// The result in one word or number, such as a tone or a likelihood.
    public var classification: String
    /// Whether the response is a granted push-back, which counts towards the policy's limit for the nag.
    public var countsTowardsLimit: Bool
    /// The confidence that the rules gave, 0 to 1; nil if they gave none. `Authorship.confidence` gives the answer's.
    public var ruleConfidence: Double?
    /// The grounding of a tip, a push-back or a coach's answer; nil for other operations.
    public var grounding: Grounding?

    public init(
        promptType: String? = nil, tone: AITone = .neutral, summary: String, content: String = "",
        inputs: [(name: String, value: String)], classification: String, countsTowardsLimit: Bool = false,
        ruleConfidence: Double? = nil, grounding: Grounding? = nil
    ) {
        self.promptType = promptType
        self.tone = tone
        self.summary = summary
        self.content = content
        self.inputs = inputs
        self.classification = classification
        self.countsTowardsLimit = countsTowardsLimit
        self.ruleConfidence = ruleConfidence
        self.grounding = grounding
    }
}
