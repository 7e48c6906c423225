import JSON
import NagzAI

/// The request fields that a model accepts, learned from its refusals, and whether it thinks before it answers.
struct ModelHabits: Hashable {
    /// Whether the model accepts a temperature.
    private(set) var takesTemperature = true
    /// The field for the token limit that the model accepts; nil for the configured one.
    private(set) var tokensField: TokensField?
    /// Whether the model thinks before it answers. Its thoughts count towards the token limit.
    private(set) var thinks = false

    /// The number of tokens that are added to the limit of an answer if the model thinks.
    private static let thinkingTokens = 2_048

    func maxTokens(of request: ModelRequest) -> Int { request.maxTokens + (thinks ? Self.thinkingTokens : 0) }

    /// Learns from the refusal of a request which of its fields the model does not take.
    /// - Returns: whether something was learned, so that a changed request may be accepted.
    mutating func learn(from refusal: HTTPRefusal) -> Bool {
        let earlierHabits = self
        if refusal.isAbout("temperature") { takesTemperature = false }
        if refusal.isAbout("max_tokens"), refusal.message.contains("max_completion_tokens") {
            // Only models that think require this field.
            (tokensField, thinks) = (.maxCompletionTokens, true)
        }
        return self != earlierHabits
    }

    /// Records that the model used the tokens of an answer for thinking.
    mutating func learnThinking() { thinks = true }
}

/// The body of a refusal, in any of the forms that services use.
struct HTTPRefusal {
    /// The message of the error; empty if the body has none.
    let message: String
    /// The name of the refused field; nil if only the message names it.
    private let field: String?

    init(_ document: JSONValue?) {
        let error = document?["error"]
        message = (error?["message"] ?? error ?? document?["detail"] ?? document?["message"])?.stringValue ?? ""
        field = error?["param"]?.stringValue
    }

    /// Returns whether the refusal names a field. Omitting the field helps even if only its value was refused.
    func isAbout(_ name: String) -> Bool { field.map { $0 == name } ?? message.contains(name) }
}
