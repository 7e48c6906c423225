/// A model that answers requests, on the device, the server or elsewhere. It is used on one event loop.
public protocol ModelProvider: AnyObject {
    var name: ProviderName { get }
    var reach: Reach { get }
    var capabilities: ProviderCapabilities { get }

    /// Asks the model once, because the person may have paid for the request. Only a request that the provider rejected
    /// because of its fields is sent a second time, with other fields.
    func generate(_ request: ModelRequest) async throws(ModelFault) -> ModelResult

    /// Returns whether the model can be asked now. The result may be a few seconds old.
    func availability() async -> Availability
}

/// One prompt, made by `PromptBook`.
public struct ModelRequest: Hashable, Sendable {
    public var task: ModelTask
    /// The text of the system prompt.
    public var systemPrompt: String
    /// The text of the user prompt.
    public var userPrompt: String
    /// The maximum number of tokens of the answer.
    public var maxTokens: Int
    /// The required form of the answer; nil for plain text.
    public var schema: OutputSchema?
    /// The W3C `traceparent` header that is sent to the provider.
    public var traceparent: String?

    public init(
        task: ModelTask, systemPrompt: String, userPrompt: String, maxTokens: Int? = nil,
        schema: OutputSchema? = nil, traceparent: String? = nil
    ) {
        self.task = task
        self.systemPrompt = systemPrompt
        self.userPrompt = userPrompt
        self.maxTokens = maxTokens ?? task.maxTokens
        self.schema = schema
        self.traceparent = traceparent
    }

    public var temperature: Double { task.kind.temperature }

    /// An estimate of the number of the prompt's tokens.
    public var estimatedPromptTokens: Int {
        Question.estimatedTokens(of: systemPrompt) + Question.estimatedTokens(of: userPrompt)
    }
}

/// The form of a structured answer: an object with exactly these fields, all of them texts.
public struct OutputSchema: Hashable, Sendable {
    /// A field of the answer.
    public struct Field: Hashable, Sendable {
        public let name: String
        /// The allowed values; nil for any text.
        public let choices: [String]?

        public init(_ name: String, choices: [String]? = nil) {
            self.name = name
            self.choices = choices
        }
    }

    /// The name of the form, which some providers require in a request.
    public let name: String
    public let fields: [Field]

    public init(name: String, fields: [Field]) {
        self.name = name
        self.fields = fields
    }

    /// Whether an answer has this form.
    public func allows(_ answer: [String: String]) -> Bool {
        answer.count == fields.count
            && fields.allSatisfy { field in
                guard let value = answer[field.name] else { return false }
                return field.choices?.contains(value) ?? true
            }
    }
}

/// A model's answer, before `OutputCheck` has checked it.
public struct ModelResult: Hashable, Sendable {
    /// The text, trimmed.
    public let text: String
    public let provider: ProviderName
    /// The name of the model, as configured. The name that a runtime reports is not trusted.
    public let model: String
    public let latency: Duration
    /// Tokens of prompt and answer, as the provider counts them; nil if it does not report them.
    public let tokenCount: Int?
    /// The fields of a structured answer; nil if no schema was requested.
    public let structuredFields: [String: String]?

    public init(
        text: String, provider: ProviderName, model: String, latency: Duration, tokenCount: Int?,
        structuredFields: [String: String]? = nil
    ) {
        self.text = text
        self.provider = provider
        self.model = model
        self.latency = latency
        self.tokenCount = tokenCount
        self.structuredFields = structuredFields
    }
}
