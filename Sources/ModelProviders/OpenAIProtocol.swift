import JSON
import NagzAI

/// OpenAI's chat completions, as many services and runtimes have them.
struct OpenAIProtocol: ModelProtocol {
    let schemaStyle: SchemaStyle
    let tokensField: TokensField

    let generatePath = "/chat/completions"
    let modelsPath = "/models"

    func headers(_ key: ModelKey?) -> [(name: String, value: String)] {
        key.map { [("Authorization", "Bearer \($0.text)")] } ?? []
    }

    func body(_ request: ModelRequest, model: String) -> [UInt8] {
        JSONWriter.document { json in
            json.object { json in
                json.field("model", model)
                json.key("messages")
                json.array { json in
                    json.message("system", request.system)
                    json.message("user", request.user)
                }
                json.key("temperature")
                json.number(request.temperature)
                json.key(escaping: tokensField.rawValue)
                json.integer(request.maxTokens)
                json.key("stream")
                json.bool(false)
                if let schema = request.schema { write(schema, to: &json) }
            }
        }
    }

    private func write(_ schema: OutputSchema, to json: inout JSONWriter) {
        guard schemaStyle != .none else { return }
        json.key("response_format")
        json.object { json in
            json.field("type", schemaStyle.rawValue)
            if schemaStyle == .jsonObject {
                json.key("schema")
                json.schema(schema)
                return
            }
            json.key("json_schema")
            json.object { json in
                json.field("name", schema.name)
                json.key("strict")
                json.bool(true)
                json.key("schema")
                json.schema(schema)
            }
        }
    }

    func answer(_ document: JSONValue) throws(ModelFault) -> ModelAnswer {
        guard let choice = document["choices"]?[0] else { throw .unreadable }
        switch choice["finish_reason"]?.stringValue {
        case "stop": break
        case "length": throw .tooLong
        case "content_filter": throw .refused
        default: throw .unreadable
        }
        guard let text = choice["message"]?["content"]?.stringValue else { throw .unreadable }
        return ModelAnswer(
            text: text, tokenCount: tokens(document["usage"], "prompt_tokens", "completion_tokens"))
    }
}
