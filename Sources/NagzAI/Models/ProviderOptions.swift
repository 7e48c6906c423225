/// The way in which a request in OpenAI's protocol gives the form of the answer. Runtimes differ.
public enum SchemaStyle: String, Sendable, CaseIterable {
    /// `{"type":"json_schema","json_schema":{…}}`
    case jsonSchema = "json_schema"
    /// `{"type":"json_object","schema":{…}}`
    case jsonObject = "json_object"
    /// The prompt alone gives the form.
    case none
}

/// The name of the request field that limits the tokens of an answer.
public enum TokensField: String, Sendable, CaseIterable {
    case maxTokens = "max_tokens"
    case maxCompletionTokens = "max_completion_tokens"
}
