import JSON
import NagzAI

/// The protocol of Anthropic's messages. Its requests have no schema, so only the prompt gives the form of a structured
/// answer.
struct AnthropicProtocol: ModelProtocol {
    let generatePath = "/v1/messages"
    /// The path of the list of models, with the largest number of models on one page.
    let modelsPath = "/v1/models?limit=1000"

    func headers(_ key: ModelKey?) -> [(name: String, value: String)] {
        [("anthropic-version", "2023-06-01")] + (key.map { [("x-api-key", $0.text)] } ?? [])
    }

    func body(_ request: ModelRequest, model: String, _ habits: ModelHabits) -> [UInt8] {
        JSONWriter.document { json in
            json.object { json in
                json.field("model", model)
                json.key("max_tokens")
                json.integer(habits.maxTokens(of: request))
                json.field("system", request.systemPrompt)
                json.key("messages")
                json.array { $0.message("user", request.userPrompt) }
                if habits.takesTemperature {
                    json.key("temperature")
                    json.number(request.temperature)
                }
            }
        }
    }

    func parse(_ document: JSONValue) throws(AnswerFault) -> ModelAnswer {
        switch document["stop_reason"]?.stringValue {
        case "end_turn", "stop_sequence": break
        case "max_tokens", "model_context_window_exceeded":
            // The token limit was reached while the model was thinking, before any text.
            let hasThoughts =
                document["content"]?.arrayValue?.contains { $0["type"]?.stringValue == "thinking" } ?? false
            throw AnswerFault(.tooLong, isSpentOnThinking: hasThoughts && text(of: document["content"]) == nil)
        case "refusal": throw AnswerFault(.refused)
        default: throw AnswerFault(.unreadable)
        }
        guard let text = text(of: document["content"]) else { throw AnswerFault(.unreadable) }
        return ModelAnswer(text: text, tokenCount: tokenCount(document["usage"], "input_tokens", "output_tokens"))
    }
}
