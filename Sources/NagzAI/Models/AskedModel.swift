/// A model that a question was sent to, with or without an answer.
public struct AskedModel: Hashable, Sendable {
    public var provider: ProviderName
    /// The name of the model, as configured.
    public var name: String
    public var reach: Reach
    /// Tokens of prompt and answer, as the provider counts them; nil if it does not report them, or has not answered.
    public var tokenCount: Int?

    public init(_ provider: ProviderName, _ name: String, _ reach: Reach, tokenCount: Int? = nil) {
        self.provider = provider
        self.name = name
        self.reach = reach
        self.tokenCount = tokenCount
    }
}
