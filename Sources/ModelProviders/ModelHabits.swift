import JSON
import NagzAI

/// The fields that a model takes, as its refusals have shown.
struct ModelHabits: Hashable {
    /// Whether it takes a temperature.
    private(set) var takesTemperature = true
    /// The field for tokens that it takes; nil for the configured one.
    private(set) var tokensField: TokensField?
    /// Whether it thinks before it answers, which it takes from its tokens.
    private(set) var thinks = false

    /// The number of tokens that a model that thinks gets beside those of its answer.
    private static let thinkingTokens = 2_048

    func maxTokens(of request: ModelRequest) -> Int { request.maxTokens + (thinks ? Self.thinkingTokens : 0) }

    /// Learns from the refusal of a request which of its fields the model does not take.
    /// - Returns: whether there was something to learn, so that another request can be accepted.
    mutating func learn(from refusal: HTTPRefusal) -> Bool {
        let before = self
        if refusal.isAbout("temperature") { takesTemperature = false }
        if refusal.isAbout("max_tokens"), refusal.message.contains("max_completion_tokens") {
            // Only models that think ask for that field.
            (tokensField, thinks) = (.maxCompletionTokens, true)
        }
        return self != before
    }

    /// Learns from an answer whose tokens went into thinking.
    mutating func learnThatItThinks() { thinks = true }
}

/// The body of a request's refusal, in the forms that services have.
struct HTTPRefusal {
    let message: String
    private let field: String?

    init(_ document: JSONValue?) {
        let error = document?["error"]
        message = (error?["message"] ?? error ?? document?["detail"] ?? document?["message"])?.stringValue ?? ""
        field = error?["param"]?.stringValue
    }

    /// Returns whether the refusal names a field. It may only reject the value; omitting the field helps in both cases.
    func isAbout(_ name: String) -> Bool { field.map { $0 == name } ?? message.contains(name) }
}
