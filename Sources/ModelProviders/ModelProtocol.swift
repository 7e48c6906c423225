import JSON
import NagzAI

/// The form of a provider's requests and answers. It sends nothing itself.
protocol ModelProtocol: Sendable {
    /// The path of a question, after that of the base URL.
    var generatePath: String { get }
    /// The path of the list of models, after that of the base URL.
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
    let tokenCount: Int?
}

/// A reason why an answer with status 200 cannot be used.
struct AnswerFault: Error {
    let fault: ModelFault
    /// Whether the tokens were used for thinking, so that a larger limit helps.
    var isSpentOnThinking = false

    init(_ fault: ModelFault, isSpentOnThinking: Bool = false) {
        (self.fault, self.isSpentOnThinking) = (fault, isSpentOnThinking)
    }
}

extension ModelProtocol {
    /// Returns the text of content that is a text or a list of parts. Parts of other kinds, such as thoughts, are
    /// omitted.
    func text(of content: JSONValue?) -> String? {
        if let text = content?.stringValue { return text }
        let parts = content?.arrayValue?.compactMap { part in
            part["type"]?.stringValue == "text" ? part["text"]?.stringValue : nil
        }
        return parts.flatMap { $0.isEmpty ? nil : $0.joined() }
    }

    /// Returns the sum of two token counts; nil if one of them is missing or not plausible.
    func tokens(_ usage: JSONValue?, _ prompt: String, _ completion: String) -> Int? {
        let plausibleCounts: ClosedRange<Int64> = 0...1_000_000_000
        guard let prompt = usage?[prompt]?.integerValue, let completion = usage?[completion]?.integerValue,
            plausibleCounts.contains(prompt), plausibleCounts.contains(completion)
        else { return nil }
        return Int(prompt + completion)
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
