import Domain

/// Runs the operations with the heuristics alone, and records nothing. Only tests use it: a device's service and the
/// server's mediator evaluate the rules themselves, because they record the answers.
public struct HeuristicAIService<Facts: FactSource>: AIService {
    private let facts: Facts
    private let heuristics: Heuristics

    public init(facts: Facts, heuristics: Heuristics) {
        self.facts = facts
        self.heuristics = heuristics
    }

    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        try await operation.rule(heuristics, question, question.facts(from: facts)).response
    }
}

extension HeuristicAIService: Sendable where Facts: Sendable {}
