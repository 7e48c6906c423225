import Domain

/// How a model may say the text of a response in other words. Everything else in a response is the rules' own.
public struct ModelWording<Question: AIQuestion, Response: Sendable>: Sendable {
    public let task: ModelTask
    /// What the prompt says, given the names of the family; nil where the rules' response has no text.
    public let prompt: @Sendable (Heuristics, Question, Question.Facts, [String]) -> PromptFacts?
    /// The rules' response with another text.
    public let response: @Sendable (Response, String) -> Response

    init(
        _ task: ModelTask, _ text: any WritableKeyPath<Response, String> & Sendable,
        prompt: @escaping @Sendable (Heuristics, Question, Question.Facts, [String]) -> PromptFacts?
    ) {
        self.init(
            task, prompt: prompt,
            response: { response, words in
                var response = response
                response[keyPath: text] = words
                return response
            })
    }

    init(
        _ task: ModelTask,
        prompt: @escaping @Sendable (Heuristics, Question, Question.Facts, [String]) -> PromptFacts?,
        response: @escaping @Sendable (Response, String) -> Response
    ) {
        (self.task, self.prompt, self.response) = (task, prompt, response)
    }
}
