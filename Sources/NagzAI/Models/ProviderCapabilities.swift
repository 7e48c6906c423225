/// The place that a question is sent to for its answer. A smaller reach is more private.
public enum Reach: String, Sendable, CaseIterable, Comparable {
    case device, server
    case thirdParty = "third_party"

    public static func < (left: Self, right: Self) -> Bool { left.order < right.order }

    private var order: Int {
        switch self {
        case .device: 0
        case .server: 1
        case .thirdParty: 2
        }
    }
}

/// The capabilities of a provider.
public struct ProviderCapabilities: Hashable, Sendable {
    public let worksOffline: Bool
    /// Whether the model can call tools; requests offer it none.
    public let supportsTools: Bool
    /// Whether a request can require an answer in the form of an `OutputSchema`.
    public let supportsSchemas: Bool
    /// The maximum number of tokens of a prompt and its answer together.
    public let contextTokens: Int
    /// The kinds of tasks that the provider supports.
    public let kinds: Set<TaskKind>
    /// The time that an answer usually takes.
    public let expectedLatency: Duration

    public init(
        worksOffline: Bool, supportsTools: Bool, supportsSchemas: Bool = true, contextTokens: Int,
        kinds: Set<TaskKind>, expectedLatency: Duration
    ) {
        self.worksOffline = worksOffline
        self.supportsTools = supportsTools
        self.supportsSchemas = supportsSchemas
        self.contextTokens = contextTokens
        self.kinds = kinds
        self.expectedLatency = expectedLatency
    }

    /// Whether it can answer the request.
    public func covers(_ request: ModelRequest) -> Bool {
        kinds.contains(request.task.kind) && (supportsSchemas || request.schema == nil)
            && request.estimatedPromptTokens + request.maxTokens <= contextTokens
    }

    /// The operating system's model on Apple's devices.
    public static let appleIntelligence = Self(
        worksOffline: true, supportsTools: true, contextTokens: 8_192,
        kinds: [.intentToAction, .summarize, .rewrite, .textCompletion, .chat], expectedLatency: .milliseconds(500))

    /// The larger model file behind a gateway on the loopback address.
    public static let localStandard = Self(
        worksOffline: true, supportsTools: false, contextTokens: 4_096,
        kinds: [.intentToAction, .summarize, .rewrite, .studyQuestions], expectedLatency: .milliseconds(1_500))

    /// The smaller model file, for a device with little memory.
    public static let localLite = Self(
        worksOffline: true, supportsTools: false, contextTokens: 2_048, kinds: [.intentToAction, .summarize],
        expectedLatency: .milliseconds(1_500))

    /// A third party's model, called with a person's own key.
    public static let thirdParty = Self(
        worksOffline: false, supportsTools: true, contextTokens: 100_000, kinds: Set(TaskKind.allCases),
        expectedLatency: .seconds(2))
}
