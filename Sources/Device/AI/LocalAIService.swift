import Domain
import NagzAI

/// The operations by name.
public enum AIOperation: String, Sendable, CaseIterable {
    case summarizeExcuse = "summarize_excuse"
    case selectTone = "select_tone"
    case coaching, patterns, digest
    case predictCompletion = "predict_completion"
    case pushBack = "push_back"
}

/// The operations answered on this device and nowhere else: the service of privacy level `local`.
///
/// It holds the cache and the rules, and nothing that could send a request: whoever has only this value cannot reach the
/// network, by whatever way.
public struct LocalAIService: AIService {
    private let facts: CacheFacts
    private let heuristics: Heuristics
    private let service: HeuristicAIService<CacheFacts>

    public init(facts: CacheFacts, heuristics: Heuristics) {
        self.facts = facts
        self.heuristics = heuristics
        service = HeuristicAIService(facts: facts, heuristics: heuristics)
    }

    /// Needs no facts but the consent, so that an excuse can be summed up however old the cache is.
    public func summarizeExcuse(_ text: String, nagID: NagID) async throws -> ExcuseSummaryResponse {
        try requireConsent()
        return try await service.summarizeExcuse(text, nagID: nagID)
    }

    /// A sentence that stands for an excuse of that category, so that its words can stay here.
    public func excuseSentence(for category: ExcuseCategory, nagID: NagID) -> String {
        heuristics.excuseSentence(for: category, nagID: nagID)
    }

    /// - Throws: `CacheMiss` where the cache cannot tell, `LocalRefusal` where the device may not.
    public func selectTone(nagID: NagID) async throws -> ToneSelectResponse {
        try requireFacts()
        return try await service.selectTone(nagID: nagID)
    }

    public func coaching(nagID: NagID) async throws -> CoachingResponse {
        try requireFacts()
        return try await service.coaching(nagID: nagID)
    }

    public func patterns(userID: UserID, familyID: FamilyID) async throws -> PatternsResponse {
        try requireFacts()
        return try await service.patterns(userID: userID, familyID: familyID)
    }

    /// The week as far as this device holds it, unless a nag was done more than a month before it was due: everybody's on a
    /// guardian's device, any other person's own.
    public func digest(familyID: FamilyID) async throws -> DigestResponse {
        try requireFacts()
        return try await service.digest(familyID: familyID)
    }

    public func predictCompletion(nagID: NagID) async throws -> PredictCompletionResponse {
        try requireFacts()
        return try await service.predictCompletion(nagID: nagID)
    }

    /// Never answered here: its bounds hold only where each push-back is recorded before the next is asked for.
    public func pushBack(nagID _: NagID) async throws -> PushBackResponse { throw LocalRefusal.mustBeRecorded }

    // MARK: What holds for all

    var cachedFamily: CachedFamily? {
        get throws { try facts.cache.cachedFamily(facts.family) }
    }

    var now: Timestamp { facts.now() }

    func allowsOnDevice(_ user: UserID) throws -> Bool { try facts.allowsOnDevice(user) }

    private func requireFacts() throws {
        try facts.requireSynced()
        try requireConsent()
    }

    /// Where the cache does not know of the consent, it counts as not given.
    private func requireConsent() throws {
        guard try cachedFamily?.allowsMediation == true else { throw LocalRefusal.consentMissing }
    }
}

/// Why a device does not answer by itself although it may know enough.
public enum LocalRefusal: Error, Hashable, Sendable {
    /// The consent `ai_mediation` is not in force, as far as this device knows.
    case consentMissing
    /// A push-back has to be recorded by the server.
    case mustBeRecorded
    /// The person switched answers of their device off.
    case switchedOff
}
