import JSON
import NagzAI

/// The form of a provider's requests and answers. It sends nothing itself.
protocol ModelProtocol: Sendable {
    /// The path to which a question is sent, relative to the base URL.
    var generatePath: String { get }
    /// The path of the list of models, relative to the base URL.
    var modelsPath: String { get }

    func headers(_ key: ModelKey?) -> [(name: String, value: String)]

    /// Returns the body of a request.
    /// - Parameter habits: the fields that the model accepts.
    func body(_ request: ModelRequest, model: String, _ habits: ModelHabits) -> [UInt8]

    /// Reads an answer with status 200.
    func parse(_ document: JSONValue) throws(AnswerFault) -> ModelAnswer
}

/// The contents of an answer.
struct ModelAnswer: Hashable {
    /// The text as received, possibly empty.
    let text: String
    /// The number of tokens of prompt and answer together; nil if the answer does not have it.
    let tokenCount: Int?
}

/// A reason why an answer with status 200 cannot be used.
struct AnswerFault: Error {
    let fault: ModelFault
    /// Whether thinking used up the tokens, so that a larger limit helps.
    var isSpentOnThinking = false

    init(_ fault: ModelFault, isSpentOnThinking: Bool = false) {
        (self.fault, self.isSpentOnThinking) = (fault, isSpentOnThinking)
    }
}

extension ModelProtocol {
    /// Returns the text of a message's content; nil if there is none. The content is a text or a list of parts. Parts
    /// that are no text, such as thoughts, are left out.
    func text(of content: JSONValue?) -> String? {
        if let text = content?.stringValue { return text }
        let parts = content?.arrayValue?.compactMap { part in
            part["type"]?.stringValue == "text" ? part["text"]?.stringValue : nil
        }
        return parts.flatMap { $0.isEmpty ? nil : $0.joined() }
    }

    /// Returns the number of tokens of prompt and answer together, from two fields of `usage`; nil if one of the fields
    /// is missing or not plausible.
    func tokenCount(_ usage: JSONValue?, _ promptField: String, _ answerField: String) -> Int? {
        let plausibleCounts: ClosedRange<Int64> = 0...1_000_000_000
        guard let promptCount = usage?[promptField]?.integerValue, let answerCount = usage?[answerField]?.integerValue,
            plausibleCounts.contains(promptCount), plausibleCounts.contains(answerCount)
        else { return nil }
        return Int(promptCount + answerCount)
    }
}

extension JSONWriter {
    mutating func field(_ name: StaticString, _ text: String) {
        key(name)
        string(text)
    }

    mutating func message(_ role: String, _ content: String) {
        object { json in
            json.field("role", role)
            json.field("content", content)
        }
    }

    /// Writes the schema as JSON Schema.
    mutating func schema(_ schema: OutputSchema) {
        object { json in
            json.field("type", "object")
            json.key("properties")
            json.object { json in
                for field in schema.fields {
                    json.key(escaping: field.name)
                    json.object { json in
                        json.field("type", "string")
                        guard let choices = field.choices else { return }
                        json.key("enum")
                        json.texts(choices)
                    }
                }
            }
            json.key("required")
            json.texts(schema.fields.map(\.name))
            json.key("additionalProperties")
            json.bool(false)
        }
    }

    private mutating func texts(_ texts: [String]) {
        array { json in for text in texts { json.string(text) } }
    }
}
