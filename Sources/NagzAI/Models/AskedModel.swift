/// A model that was sent a question, whatever became of its answer.
public struct AskedModel: Hashable, Sendable {
    public var provider: ProviderName
    /// The name of the model, as configured.
    public var name: String
    public var reach: Reach
    /// Tokens of prompt and answer, as the provider counts them; nil where it does not say, or has not answered.
    public var tokenCount: Int?

    public init(_ provider: ProviderName, _ name: String, _ reach: Reach, tokenCount: Int? = nil) {
        self.provider = provider
        self.name = name
        self.reach = reach
        self.tokenCount = tokenCount
    }
}
