import Contract
import Domain
import NagzAI

/// Answers AI operations on this device only: the service of privacy level `local`.
///
/// It has the cache, the rules and possibly a model on this device, but nothing that could send a request to another
/// machine, so code that has only this value cannot reach the network. The digest covers the rows that this device has:
/// on a guardian's device those of the whole family, on any other the person's own.
public struct LocalAIService: AIService {
    private let facts: CacheFacts
    private let heuristics: Heuristics
    private let routing: QuestionRouting
    private let models: LocalModels
    private let log: ExecutionLog
    private let continuesSession: Bool

    /// - Parameters:
    ///   - models: the models that write the texts of answers, if the person's mode allows it.
    ///   - dialog: shows the warnings of constraints, and asks for confirmations.
    ///   - continuesSession: whether questions belong to the device's AI session, and are added to it.
    ///   - log: records each answer and each refusal. It also has the ID of the person who uses the device.
    public init(
        facts: CacheFacts, heuristics: Heuristics, models: LocalModels = .none, dialog: ConstraintDialog = .silent,
        log: ExecutionLog, continuesSession: Bool = false
    ) {
        self.facts = facts
        self.heuristics = heuristics
        self.models = models
        self.log = log
        self.continuesSession = continuesSession
        routing = QuestionRouting(cache: facts.cache, family: facts.family, dialog: dialog, log: log)
    }

    /// Routes and answers a question on this device, and records the answer. A refusal before the routing, because the
    /// device may not answer, is not recorded; a later one is. An operation without facts, such as summarising an
    /// excuse, needs the consent but no synced cache.
    /// - Throws: `CacheMiss` if the cache lacks a fact, `LocalRefusal` if the device may not answer, `QuestionRefusal`
    ///   if the question must not be answered.
    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        try requireMayAnswer(operation)
        let routed = try await route(operation, question, requiresOffline: true, canDeviceAnswer: true)
        do { return try await answerRouted(operation, question, routed) } catch {
            recordRefusal(routed, error)
            throw error
        }
    }

    /// Answers a question that was routed before. A refusal is not recorded, because the server may still answer.
    /// - Parameter serverFailure: the reason why the server did not answer before; nil if it was not asked.
    package func answerRouted<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ routed: RoutedQuestion,
        serverFailure: FallbackReason? = nil
    ) async throws -> Response {
        try requireMayAnswer(operation)
        var facts = facts
        if continuesSession { facts.session = try facts.cache.sessionTurns(of: facts.family, at: now) }
        let questionFacts = try await question.facts(from: facts)
        var response = operation.rule(heuristics, question, questionFacts).response
        var author = Authorship(fallback: serverFailure ?? (routed.isTaskUnsupported ? .taskNotCovered : nil))
        var stages = StageRecorder(routed, log)
        if let writer = routed.writer, let wording = operation.wording,
            let promptFacts = wording.facts(heuristics, question, questionFacts, try facts.memberNames())
        {
            author = try await reword(&response, wording, writer, promptFacts, routed)
            try Task.checkCancellation()
            // Consent or preference may have been withdrawn while the model wrote.
            try requireConsent()
            try requireSwitchedOn()
        }
        stages.recordExecution(routed, log)
        let record = operation.record(heuristics, question, questionFacts, response)
        let execution = routed.record(record, by: author, stages, log)
        log.store(execution)
        if continuesSession {
            let turn = SessionTurn(operation.id, words: question.ownWords, record)
            try facts.cache.add(turn, execution.id, of: facts.family, at: now)
        }
        return response
    }

    /// Replaces the response's text by the model's, if the model gives a text that may be shown.
    /// - Returns: the author of the text.
    /// - Throws: `LocalRefusal.modelUnavailable` if only the model may answer.
    private func reword<Question, Response>(
        _ response: inout Response, _ wording: ModelWording<Question, Response>, _ writer: ModelWriter,
        _ facts: PromptFacts, _ routed: RoutedQuestion
    ) async throws -> Authorship {
        let provider = writer.provider
        switch await writer.write(facts, traceparent: routed.trace.traceparent) {
        case .success(let result):
            response[keyPath: wording.text] = result.text
            return Authorship(
                AskedModel(result.provider, result.model, provider.reach, tokenCount: result.tokenCount))
        case .failure(.fault(.unavailable)) where routed.choices.mode == .onDeviceOnly:
            throw LocalRefusal.modelUnavailable
        case .failure(let problem):
            let modelName = (try? routed.routingResult.get())?.model ?? provider.name.rawValue
            return Authorship(
                fallback: problem.fallback,
                asked: problem.mayHaveBeenAsked ? AskedModel(provider.name, modelName, provider.reach) : nil)
        }
    }

    /// Decides where a question is answered, by the constraints and the person's choices. It shows warnings, and asks
    /// for a confirmation if a constraint requires one.
    /// - Parameters:
    ///   - requiresOffline: whether the question must not leave the device.
    ///   - canDeviceAnswer: whether the device can answer, as far as is known before its facts are read.
    /// - Throws: `QuestionRefusal`, `SQLiteError`.
    package func route<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question, requiresOffline: Bool, canDeviceAnswer: Bool
    ) async throws -> RoutedQuestion {
        let choices = try choices
        let selection = await models.selection(for: operation.id.modelTask, choices)
        return try routing.decide(
            operation.id, question.ownWords, (question as? any NagRelatedQuestion)?.nagID, choices,
            requiresOffline: requiresOffline, canDeviceAnswer: canDeviceAnswer, selection, at: now)
    }

    /// Returns the route and the provider that a question without a person's words would have now. It asks for no
    /// confirmation, and records nothing.
    public func preview(_ operation: AIOperationID) async throws -> Result<RoutingDecision, RoutingFailure> {
        let choices = try choices
        let isFresh = try cachedFamily?.isFresh(at: now) ?? false
        let isForDevice = operation != .pushBack && (operation != .digest || choices.mode.staysOnDevice)
        let canDeviceAnswer = try isForDevice && isSwitchedOn && (isFresh || operation == .summarizeExcuse)
        return try routing.preview(
            operation, choices, canDeviceAnswer: canDeviceAnswer,
            await models.selection(for: operation.modelTask, choices), at: now)
    }

    /// Returns the patterns of the person's misses of which this device has not notified them, and records that it has.
    /// The device looks for patterns after a sync, if the person and their family let it answer. The patterns are sent
    /// to nobody else, and are not in the history.
    public func takeNewPatternAlerts() async throws -> [InsightItem] {
        guard try facts.cache.arePatternAlertsOn(of: facts.family), (try? requireConsent()) != nil,
            case .success(let decision) = try await preview(.patterns), decision.route == .local
        else { return [] }
        let patternFacts = try await facts.patternFacts(userID: log.user, familyID: facts.family)
        return try facts.cache.markNotified(heuristics.patterns(for: patternFacts).response.insights, in: facts.family)
    }

    /// Records that the question was not answered because of an error. Other errors than `CacheMiss` and `LocalRefusal`
    /// are not recorded.
    package func recordRefusal(_ routed: RoutedQuestion, _ error: any Error) {
        switch error {
        case is CacheMiss, LocalRefusal.mustBeRecorded, LocalRefusal.modelUnavailable:
            log.store(routed.record(refusedWith: ExecutionCode.localUnavailable.rawValue, log))
        case is LocalRefusal: log.store(routed.record(refusedWith: ErrorCode.authorizationDenied.rawValue, log))
        default: return
        }
    }

    /// Records that the server could not be reached and that nothing else may answer.
    /// - Returns: the error to throw.
    package func recordUnreachableServer(_ routed: RoutedQuestion) -> QuestionRefusal {
        var routed = routed
        routed.routingResult = .failure(.networkUnavailable)
        log.store(routed.record(refusedWith: ExecutionCode.networkUnavailable.rawValue, log))
        return .noRoute(.networkUnavailable)
    }

    /// Checks that the device may answer an operation by itself.
    /// - Throws: `LocalRefusal`, or `CacheMiss.neverSynced`.
    private func requireMayAnswer<Question, Response>(_ operation: AIOperation<Question, Response>) throws {
        if operation.deviceExecution == .never { throw LocalRefusal.mustBeRecorded }
        if operation.factDepth != .none { try facts.requireSynced() }
        try requireConsent()
        try requireSwitchedOn()
    }

    /// Returns a sentence for an excuse of a category, to be sent in place of the person's own words. The nag's ID
    /// selects one of several sentences.
    public func excuseSentence(for category: ExcuseCategory, nagID: NagID) -> String {
        heuristics.excuseSentence(for: category, nagID: nagID)
    }

    // MARK: State

    package var cachedFamily: CachedFamily? {
        get throws { try facts.cache.cachedFamily(facts.family) }
    }

    package var now: Timestamp { facts.now() }

    /// The state of the network to the server, by the latest attempts.
    package var network: NetworkState {
        get throws { try facts.cache.networkWatch().state(at: now) }
    }

    /// Records an attempt to reach the server. Errors of the cache are ignored, because a full disk must not
    /// prevent an answer.
    /// - Parameter isConnectionFault: whether no connection was established; nil for an attempt that succeeded.
    package func recordContact(isConnectionFault: Bool?) {
        guard let isConnectionFault else { return (try? facts.cache.recordServerAnswer()) ?? () }
        try? facts.cache.record(NetworkWatch.Fault(at: now, isConnectionFault: isConnectionFault))
    }

    /// Records that, according to the server, the consent has ended. This device then does not answer any more.
    package func recordConsentWithdrawal() { _ = try? facts.cache.recordConsentWithdrawal(of: facts.family) }

    /// The person's choices for their questions.
    package var choices: AIChoices {
        get throws { try facts.cache.choices(of: facts.family) }
    }

    /// Whether the person allows answers by their device.
    public var isSwitchedOn: Bool {
        get throws { try facts.allowsDeviceAnswers(log.user) }
    }

    private func requireSwitchedOn() throws {
        guard try isSwitchedOn else { throw LocalRefusal.switchedOff }
    }

    /// The age of this device's copy of the server's records, at least zero; nil before the first complete sync, or if
    /// the cache cannot be read.
    public var dataAge: Timestamp.Span? {
        guard let syncedAt = (try? cachedFamily)?.syncedAt else { return nil }
        return max(Timestamp.Span(microseconds: 0), now - syncedAt)
    }

    /// Checks that the consent is given. An unknown consent counts as not given.
    private func requireConsent() throws {
        guard try cachedFamily?.allowsMediation == true else { throw LocalRefusal.consentMissing }
    }
}

/// A reason why a device may not answer by itself, although it may have the facts.
public enum LocalRefusal: Error, Hashable, Sendable {
    /// The consent `ai_mediation` is not given, or this device does not know of it.
    case consentMissing
    /// The server has to record the answer, because limits depend on the record.
    case mustBeRecorded
    /// The person's preference forbids answers by their device.
    case switchedOff
    /// The person's mode allows only the operating system's model, which is no longer available.
    case modelUnavailable
}

extension TraceID {
    /// The value of the W3C header `traceparent`: this trace, and its last 16 digits as the span.
    fileprivate var traceparent: String {
        let digits = description.replacing("-", with: "")
        return "00-\(digits)-\(digits.suffix(16))-01"
    }
}
