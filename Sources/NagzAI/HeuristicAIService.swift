import Domain

/// Runs the operations with the heuristics alone, on server and device with different fact sources. It records nothing;
/// a server that must audit evaluates the operation's rule in its own transaction.
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
