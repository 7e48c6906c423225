import Domain

/// The operations answered by the heuristics alone: one engine for server and device, told apart only by where the facts
/// come from. Records nothing; a server that must audit evaluates the operation's rule within its transaction.
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
