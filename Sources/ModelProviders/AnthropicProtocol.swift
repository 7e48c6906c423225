import JSON
import NagzAI

/// Anthropic's messages. The form of a structured answer is told by the prompt alone.
struct AnthropicProtocol: ModelProtocol {
    let generatePath = "/v1/messages"
    /// The list has pages; this is the largest one.
    let modelsPath = "/v1/models?limit=1000"

    func headers(_ key: ModelKey?) -> [(name: String, value: String)] {
        [("anthropic-version", "2023-06-01")] + (key.map { [("x-api-key", $0.text)] } ?? [])
    }

    func body(_ request: ModelRequest, model: String) -> [UInt8] {
        JSONWriter.document { json in
            json.object { json in
                json.field("model", model)
                json.key("max_tokens")
                json.integer(request.maxTokens)
                json.field("system", request.system)
                json.key("messages")
                json.array { $0.message("user", request.user) }
                json.key("temperature")
                json.number(request.temperature)
            }
        }
    }

    func answer(_ document: JSONValue) throws(ModelFault) -> ModelAnswer {
        switch document["stop_reason"]?.stringValue {
        case "end_turn", "stop_sequence": break
        case "max_tokens", "model_context_window_exceeded": throw .tooLong
        case "refusal": throw .refused
        default: throw .unreadable
        }
        let text = document["content"]?.arrayValue?.first { $0["type"]?.stringValue == "text" }?["text"]
        guard let text = text?.stringValue else { throw .unreadable }
        return ModelAnswer(text: text, tokenCount: tokens(document["usage"], "input_tokens", "output_tokens"))
    }
}
