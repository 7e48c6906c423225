import Domain

/// The seven operations answered by the heuristics alone: one engine for server and device, told apart only by where
/// the facts come from. Records nothing; a server that must audit calls `Heuristics` within its transaction.
public struct HeuristicAIService<Facts: FactSource>: AIService {
    private let facts: Facts
    private let heuristics: Heuristics

    public init(facts: Facts, heuristics: Heuristics) {
        self.facts = facts
        self.heuristics = heuristics
    }

    public func summarizeExcuse(_ text: String, nagID: NagID) async throws -> ExcuseSummaryResponse {
        heuristics.excuseSummary(of: text, nagID: nagID).response
    }

    public func selectTone(nagID: NagID) async throws -> ToneSelectResponse {
        try await heuristics.tone(for: facts.nagFacts(nagID).facts).response
    }

    public func coaching(nagID: NagID) async throws -> CoachingResponse {
        try await heuristics.coaching(for: facts.nagFacts(nagID)).response
    }

    public func patterns(userID: UserID, familyID: FamilyID) async throws -> PatternsResponse {
        try await heuristics.patterns(for: facts.patternFacts(userID: userID, familyID: familyID)).response
    }

    public func digest(familyID: FamilyID) async throws -> DigestResponse {
        try await heuristics.digest(for: facts.digestFacts(familyID: familyID)).response
    }

    public func predictCompletion(nagID: NagID) async throws -> PredictCompletionResponse {
        try await heuristics.prediction(for: facts.nagFacts(nagID)).response
    }

    public func pushBack(nagID: NagID) async throws -> PushBackResponse {
        try await heuristics.pushBack(for: facts.nagFacts(nagID)).response
    }
}

extension HeuristicAIService: Sendable where Facts: Sendable {}
