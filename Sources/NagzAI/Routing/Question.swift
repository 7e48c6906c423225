import Domain

/// A question to the AI, with everything that constraints and router need.
public struct Question: Hashable, Sendable {
    public var id: QuestionID
    public var operation: AskedOperation
    /// The person's own words; empty for a question about records alone.
    public var content: String
    /// The number of tokens of the content, possibly estimated.
    public var tokenCount: Int
    public var privacyLevel: PrivacyLevel
    public var intent: QuestionIntent?
    /// Whether the question must not leave the device.
    public var requiresOffline: Bool
    public var askedAt: Timestamp

    /// - Parameter tokenCount: the number of tokens of the content; nil to estimate it.
    public init(
        id: QuestionID, operation: AskedOperation, content: String, tokenCount: Int? = nil,
        privacyLevel: PrivacyLevel = .auto, intent: QuestionIntent? = nil, requiresOffline: Bool = false,
        askedAt: Timestamp
    ) {
        self.id = id
        self.operation = operation
        self.content = content
        self.tokenCount = tokenCount ?? Self.estimatedTokens(of: content)
        self.privacyLevel = privacyLevel
        self.intent = intent
        self.requiresOffline = requiresOffline
        self.askedAt = askedAt
    }

    /// Returns an estimate of a text's tokens: a quarter of its UTF-8 bytes, rounded up.
    public static func estimatedTokens(of content: String) -> Int { (content.utf8.count + 3) / 4 }
}
