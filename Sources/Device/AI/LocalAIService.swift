import Domain
import NagzAI

/// The operations answered on this device and nowhere else: the service of privacy level `local`.
///
/// It holds the cache and the rules, and nothing that could send a request: whoever has only this value cannot reach the
/// network, by whatever way. The digest is of the week as far as this device holds it, unless a nag was done more than a
/// month before it was due: everybody's on a guardian's device, any other person's own.
public struct LocalAIService: AIService {
    private let facts: CacheFacts
    private let heuristics: Heuristics
    private let service: HeuristicAIService<CacheFacts>

    public init(facts: CacheFacts, heuristics: Heuristics) {
        self.facts = facts
        self.heuristics = heuristics
        service = HeuristicAIService(facts: facts, heuristics: heuristics)
    }

    /// What needs no facts needs no synced cache, but the consent: an excuse can be summed up however old the cache is.
    /// - Throws: `CacheMiss` where the cache cannot tell, `LocalRefusal` where the device may not.
    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        if operation.onDevice == .never { throw LocalRefusal.mustBeRecorded }
        if operation.facts != .none { try facts.requireSynced() }
        try requireConsent()
        return try await service.answer(operation, question)
    }

    /// A sentence that stands for an excuse of that category, so that its words can stay here.
    public func excuseSentence(for category: ExcuseCategory, nagID: NagID) -> String {
        heuristics.excuseSentence(for: category, nagID: nagID)
    }

    // MARK: What holds for all

    var cachedFamily: CachedFamily? {
        get throws { try facts.cache.cachedFamily(facts.family) }
    }

    var now: Timestamp { facts.now() }

    func allowsOnDevice(_ user: UserID) throws -> Bool { try facts.allowsOnDevice(user) }

    /// Where the cache does not know of the consent, it counts as not given.
    private func requireConsent() throws {
        guard try cachedFamily?.allowsMediation == true else { throw LocalRefusal.consentMissing }
    }
}

/// Why a device does not answer by itself although it may know enough.
public enum LocalRefusal: Error, Hashable, Sendable {
    /// The consent `ai_mediation` is not in force, as far as this device knows.
    case consentMissing
    /// The answer has to be recorded by the server, or its bounds would not hold.
    case mustBeRecorded
    /// The person switched answers of their device off.
    case switchedOff
}
