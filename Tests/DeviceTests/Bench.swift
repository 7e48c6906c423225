import Contract
import Device
import Domain
import LocalAI
import NagzAI
import Testing

/// A server's service that says of each operation that it was asked, or that it cannot be reached.
final class FarAway: AnsweringServer {
    struct Unreachable: Error {}
    struct Refused: Error {}
    var isDown = false
    var refuses = false
    var isCancelled = false
    private(set) var attempts = 0
    private(set) var asked: [AIOperationID] = []
    /// What it was told with the questions.
    private(set) var options: [ExecutionOptions] = []

    func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        try await answer(operation, question, ExecutionOptions())
    }

    func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ options: ExecutionOptions
    ) async throws -> Response {
        attempts += 1
        if isDown { throw Unreachable() }
        if refuses { throw Refused() }
        if isCancelled { throw CancellationError() }
        self.options.append(options)
        asked.append(operation.id)
        return try #require(Self.answer(operation.id, question) as? Response)
    }

    private static func answer(_ operation: AIOperationID, _ question: any AIQuestion) -> any Sendable {
        let nagID = (question as? any NagRelatedQuestion)?.nagID ?? NagID(high: 0, low: 0)
        return switch operation {
        case .summarizeExcuse: ExcuseSummaryResponse(nagID: nagID, summary: "far", category: .other, confidence: 1)
        case .selectTone: ToneSelectResponse(nagID: nagID, tone: .firm, missCount7d: 9, streak: 9, reason: "far")
        case .coaching: CoachingResponse(nagID: nagID, tip: "far", category: "", scenario: "")
        case .patterns: PatternsResponse(userID: me, familyID: homeFamily, insights: [], analyzedAt: .epoch)
        case .digest:
            DigestResponse(
                familyID: homeFamily, periodStart: .epoch, periodEnd: .epoch, summaryText: "far", memberSummaries: [],
                totals: DigestTotals(totalNags: 0, completed: 0, missed: 0, open: 0, overdue: 0, completionRate: 0))
        case .predictCompletion:
            PredictCompletionResponse(nagID: nagID, likelihood: 1, suggestedReminderTime: nil, factors: [])
        case .pushBack:
            PushBackResponse(nagID: nagID, shouldPushBack: false, message: nil, tone: nil, reason: "far")
        case .askCoach: CoachAnswer(familyID: homeFamily, answer: "far", topic: .due, confidence: 1)
        }
    }
}

/// Where one operation's answer came from and why, for a cache in some state.
final class Bench {
    let cache: EventCache
    let far = FarAway()
    var now = start + .hours(1)
    var records: [AnswerRecord] = []
    /// What a person would answer who is asked for a confirmation.
    var confirmation = ConstraintDialog.Confirmation.nobodyToAsk
    /// The warnings and prompts that were shown.
    var shown: [String] = []
    /// The model behind the device's gateway, and the operating system's; nil without one.
    var model: (any ModelProvider)?
    var system: (any ModelProvider)?
    /// What was told of the questions that the device answered or refused.
    var executions: [ExecutionRecord] = []
    var keepsHistory = false
    /// Whether questions go on from the last ones.
    var continuesSession = false
    private var lastID: UInt64 = 0
    private let heuristics: Heuristics

    init(_ folder: String) throws {
        cache = try EventCache(path: folder + "/cache.db", seal: .test)
        heuristics = Heuristics(phrasebook: try Phrasebook.english())
    }

    func sync(_ facts: FamilyFacts = facts()) throws {
        let nags = [syncedNag(1), syncedNag(2, to: sibling, from: me)]
        _ = try cache.apply(
            page(nags: nags, cursor: "a", facts: facts), of: homeFamily, requestedFrom: .cursor(nil), at: now)
    }

    private var models: LocalModels {
        guard let prompts = try? PromptBook.english() else { return .none }
        let models = system.map { DeviceModels(system: $0, gateway: model) } ?? DeviceModels(gateway: model)
        return models.makeLocalModels(prompts: prompts, phrasebook: heuristics.phrasebook)
    }

    var local: LocalAIService {
        let now = now
        return LocalAIService(
            facts: CacheFacts(cache, family: homeFamily, now: { now }), heuristics: heuristics, models: models,
            dialog: ConstraintDialog(
                warn: { self.shown.append("warning: \($0)") },
                confirm: {
                    self.shown.append("confirm: \($0)")
                    return self.confirmation
                }),
            log: ExecutionLog(
                user: me,
                newID: {
                    self.lastID += 1
                    return (9, self.lastID)
                }, stopwatch: { 0 },
                store: {
                    self.executions.append($0)
                    if self.keepsHistory { try? self.cache.store($0) }
                }), continuesSession: continuesSession)
    }

    func service(_ requested: RequestedProvider? = nil) -> OnDeviceAIService<FarAway> {
        OnDeviceAIService(
            local: local, server: far, requestedProvider: requested,
            failure: { error in
                switch error {
                case is FarAway.Unreachable: .unreachable(isConnectionFault: true)
                case is FarAway.Refused: .consentMissing
                case is CancellationError: .cancelled
                default: nil
                }
            }, stopwatch: { 0 },
            record: { self.records.append($0) })
    }

    func ask(_ operation: AIOperationID, nag: UInt64 = 1, requested: RequestedProvider? = nil) async throws
        -> AnswerRecord
    {
        let service = service(requested)
        try await Self.run(operation, service, NagID(high: 1, low: nag))
        return try #require(records.last)
    }

    static func run(_ operation: AIOperationID, _ service: some AIService, _ nag: NagID) async throws {
        switch operation {
        case .summarizeExcuse: _ = try await service.summarizeExcuse("I forgot", nagID: nag)
        case .selectTone: _ = try await service.selectTone(nagID: nag)
        case .coaching: _ = try await service.coaching(nagID: nag)
        case .patterns: _ = try await service.patterns(userID: me, familyID: homeFamily)
        case .digest: _ = try await service.digest(familyID: homeFamily)
        case .predictCompletion: _ = try await service.predictCompletion(nagID: nag)
        case .pushBack: _ = try await service.pushBack(nagID: nag)
        case .askCoach: _ = try await service.askCoach("What is due?", of: me, familyID: homeFamily)
        }
    }
}
