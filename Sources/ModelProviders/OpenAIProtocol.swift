import JSON
import NagzAI

/// The protocol of OpenAI's chat completions, which many services and runtimes use.
struct OpenAIProtocol: ModelProtocol {
    let schemaStyle: SchemaStyle
    let tokensField: TokensField

    let generatePath = "/chat/completions"
    let modelsPath = "/models"

    func headers(_ key: ModelKey?) -> [(name: String, value: String)] {
        key.map { [("Authorization", "Bearer \($0.text)")] } ?? []
    }

    func body(_ request: ModelRequest, model: String, _ habits: ModelHabits) -> [UInt8] {
        JSONWriter.document { json in
            json.object { json in
                json.field("model", model)
                json.key("messages")
                json.array { json in
                    json.message("system", request.systemPrompt)
                    json.message("user", request.userPrompt)
                }
                if habits.takesTemperature {
                    json.key("temperature")
                    json.number(request.temperature)
                }
                json.key(escaping: (habits.tokensField ?? tokensField).rawValue)
                json.integer(habits.maxTokens(of: request))
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

    /// The values of `finish_reason` for a complete answer, which differ between services. Some send none.
    private static let completeReasons: Set<String> = ["", "stop", "eos", "eos_token", "end_turn", "stop_sequence"]

    func parse(_ document: JSONValue) throws(AnswerFault) -> ModelAnswer {
        guard let choice = document["choices"]?[0] else { throw AnswerFault(.unreadable) }
        let (message, usage) = (choice["message"], document["usage"])
        let reason = choice["finish_reason"]
        switch reason?.stringValue?.lowercased() {
        case nil where reason == nil || reason == .null: break
        case let word? where Self.completeReasons.contains(word): break
        case "length", "max_tokens":
            let thoughts = usage?["completion_tokens_details"]?["reasoning_tokens"]?.integerValue ?? 0
            throw AnswerFault(.tooLong, isSpentOnThinking: thoughts > 0)
        case "content_filter": throw AnswerFault(.refused)
        default: throw AnswerFault(.unreadable)
        }
        if message?["refusal"]?.stringValue?.isEmpty == false { throw AnswerFault(.refused) }
        guard let text = text(of: message?["content"]) else { throw AnswerFault(.unreadable) }
        return ModelAnswer(
            text: text, tokenCount: tokenCount(usage, "prompt_tokens", "completion_tokens"))
    }
}
