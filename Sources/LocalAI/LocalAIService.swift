import Domain
import NagzAI

/// Answers AI operations on this device only: the service of privacy level `local`.
///
/// It holds the cache and the rules, and nothing that could send a request, so whoever has only this value cannot reach
/// the network. The digest covers the week as far as this device holds it, unless a nag was done more than a month
/// before it was due: everybody's week on a guardian's device, the person's own on any other.
public struct LocalAIService: AIService {
    private let facts: CacheFacts
    private let heuristics: Heuristics
    private let service: HeuristicAIService<CacheFacts>
    private let routing: QuestionRouting

    /// - Parameter dialog: how constraints warn the person and ask for confirmations.
    public init(facts: CacheFacts, heuristics: Heuristics, dialog: ConstraintDialog = .silent) {
        self.facts = facts
        self.heuristics = heuristics
        routing = QuestionRouting(cache: facts.cache, family: facts.family, dialog: dialog)
        service = HeuristicAIService(facts: facts, heuristics: heuristics)
    }

    /// An operation without facts, such as summarising an excuse, needs the consent but no synced cache.
    /// - Throws: `CacheMiss` where the cache lacks a fact, `LocalRefusal` where the device may not answer,
    ///   `QuestionRefusal` where the question is not to be answered.
    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        try require(operation)
        _ = try route(operation, question, requiresOffline: true, isAvailable: true)
        return try await service.answer(operation, question)
    }

    /// Answers a question that was routed already.
    package func answerRouted<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        try require(operation)
        return try await service.answer(operation, question)
    }

    /// Decides where a question is answered, by the constraints and the person's choices. It warns the person, and asks
    /// for a confirmation where a constraint wants one.
    /// - Parameters:
    ///   - requiresOffline: whether the question must not leave the device.
    ///   - isAvailable: whether the device can answer, as far as is known before its facts are read.
    /// - Throws: `QuestionRefusal`, `SQLiteError`.
    package func route<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question, requiresOffline: Bool, isAvailable: Bool
    ) throws -> RoutingDecision {
        try routing.decide(
            operation.id, question.content, requiresOffline: requiresOffline, isAvailable: isAvailable, at: now)
    }

    /// - Throws: why the device may not answer by itself, or `CacheMiss.neverSynced`.
    private func require<Question, Response>(_ operation: AIOperation<Question, Response>) throws {
        if operation.onDevice == .never { throw LocalRefusal.mustBeRecorded }
        if operation.facts != .none { try facts.requireSynced() }
        try requireConsent()
    }

    /// A sentence for an excuse of that category, sent in place of the person's own words.
    public func excuseSentence(for category: ExcuseCategory, nagID: NagID) -> String {
        heuristics.excuseSentence(for: category, nagID: nagID)
    }

    // MARK: What holds for all

    package var cachedFamily: CachedFamily? {
        get throws { try facts.cache.cachedFamily(facts.family) }
    }

    package var now: Timestamp { facts.now() }

    package func allowsOnDevice(_ user: UserID) throws -> Bool { try facts.allowsOnDevice(user) }

    /// An unknown consent counts as not given.
    private func requireConsent() throws {
        guard try cachedFamily?.allowsMediation == true else { throw LocalRefusal.consentMissing }
    }
}

/// Why a device may not answer by itself, although it may have the facts.
public enum LocalRefusal: Error, Hashable, Sendable {
    /// The consent `ai_mediation` is not in force, or this device does not know of it.
    case consentMissing
    /// The server has to record the answer, or its limits would not hold.
    case mustBeRecorded
    /// The person's preference forbids answers by their device.
    case switchedOff
}
