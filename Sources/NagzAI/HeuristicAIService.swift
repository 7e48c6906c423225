import Domain

/// Runs the operations with the heuristics alone, and records nothing. Only tests use it: a device's service and the
/// server's mediator evaluate the rules themselves, because they record the answers.
public struct HeuristicAIService<Source: FactSource>: AIService {
    private let source: Source
    private let heuristics: Heuristics

    public init(source: Source, heuristics: Heuristics) {
        self.source = source
        self.heuristics = heuristics
    }

    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        try await operation.rule(heuristics, question, question.facts(from: source)).response
    }
}

extension HeuristicAIService: Sendable where Source: Sendable {}
