import Contract
import Domain
import DomainSQL
import LocalAI
import NagzAI
import SQL
import SQLite

/// Answers from the cache if that is allowed and possible, and otherwise asks the server.
///
/// The server is asked when the cache is stale or lacks a fact, for the digest, and for push-backs. The server learns
/// nothing new from such a question, because the cache is a copy of its own records. If the server cannot be reached,
/// the device answers if it has the facts, and the record of the answer says so. A device that may answer summarises
/// the words of an excuse itself, however old the cache is.
///
/// The constraints of the latest sync and the person's choices have priority. A question that must stay local never
/// reaches the server. The device does not answer a question that a constraint or a choice sends to the server.
public struct OnDeviceAIService<Server: AnsweringServer>: AIService {
    private let local: LocalAIService
    private let server: Server
    private let requestedProvider: RequestedProvider?
    private let failure: (any Error) -> ServerFailure?
    private let record: (AnswerRecord) -> Void
    /// Returns the microseconds since a fixed moment.
    private let stopwatch: () -> Int64

    /// - Parameters:
    ///   - requestedProvider: the server's provider that the person requests; nil if their choices decide.
    ///   - failure: returns the server's failure that an error means; nil for any other error.
    ///   - stopwatch: returns the microseconds since a fixed moment.
    ///   - record: called with the record of each answer.
    public init(
        local: LocalAIService, server: Server, requestedProvider: RequestedProvider? = nil,
        failure: @escaping (any Error) -> ServerFailure?, stopwatch: @escaping () -> Int64,
        record: @escaping (AnswerRecord) -> Void = { _ in }
    ) {
        self.local = local
        self.server = server
        self.requestedProvider = requestedProvider
        self.failure = failure
        self.stopwatch = stopwatch
        self.record = record
    }

    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        let startedAt = stopwatch()
        func recordAnswer(_ response: Response, _ place: AnswerPlace, _ reason: AnswerReason) -> Response {
            record(
                AnswerRecord(
                    operation: operation.id, place: place, reason: reason, at: local.now,
                    elapsedMicroseconds: stopwatch() - startedAt,
                    dataAge: place == .device && operation.factDepth != .none ? local.dataAge : nil))
            return response
        }
        let serverReason = try requestedProvider == nil ? reasonToAskServer(operation) : .cloud
        let isReachable = try local.network == .online
        // If the server cannot be reached, the device may answer in its place from the cache.
        let mayReplaceServer = !isReachable && (serverReason == .stale || serverReason == .wholeFamily)
        // A person's words stay on a device that may answer, unless the operation allows them to go to the server.
        let staysOnDevice = serverReason == nil && question.keepsWordsOnDevice && !question.ownWords.isEmpty
        let routed = try await local.route(
            operation, question, requiresOffline: staysOnDevice,
            canDeviceAnswer: serverReason == nil || mayReplaceServer)
        let decision = try routed.routingResult.get()
        let replacesServer = mayReplaceServer && decision.rule == .autoLocal
        var reason =
            AnswerReason(decision.rule) ?? (replacesServer ? .serverUnreachable : serverReason)
            ?? AnswerReason(autoRoute: decision.route, routed.choices.mode)
        var rule = decision.rule
        if decision.route == .local {
            guard requestedProvider == nil else { throw QuestionRefusal.noRoute(.unavailableInMode) }
            do {
                if serverReason == .switchedOff { throw LocalRefusal.switchedOff }
                return recordAnswer(
                    try await local.answerRouted(
                        operation, question, routed, serverFailure: replacesServer ? .unavailable : nil),
                    .device, reason)
            } catch let miss as CacheMiss where decision.isFallbackAllowed {
                guard isReachable else { throw local.recordUnreachableServer(routed) }
                (reason, rule) = (AnswerReason(miss), .localFailureFallback)
            } catch {
                local.recordRefusal(routed, error)
                throw error
            }
        }
        do {
            let answer = try await server.answer(operation, question, options(routed, decision, rule))
            local.recordContact(isConnectionFault: nil)
            return recordAnswer(answer, .server, reason)
        } catch {
            let serverFailure = failure(error)
            switch serverFailure {
            case .unreachable(let isConnectionFault): local.recordContact(isConnectionFault: isConnectionFault)
            // A cancelled call says nothing about the server.
            case .cancelled: throw error
            case .consentMissing, nil:
                local.recordContact(isConnectionFault: nil)
                if serverFailure == .consentMissing { local.recordConsentWithdrawal() }
                throw error
            }
            // The fallback to the device is more private, and the record shows it. In a mode in which only the person's
            // own provider answers, there is no fallback.
            guard !decision.rule.isForcedCloud, routed.choices.mode != .byoOnly, reason != .switchedOff,
                requestedProvider == nil,
                let response = try? await local.answerRouted(operation, question, routed, serverFailure: .unavailable)
            else { throw local.recordUnreachableServer(routed) }
            return recordAnswer(response, .device, .serverUnreachable)
        }
    }

    /// Returns the options for the server: the question's trace and ID, the rule that chose the server, and the task.
    private func options(
        _ routed: RoutedQuestion, _ decision: RoutingDecision, _ rule: RoutingRule
    ) -> ExecutionOptions {
        let task = requestedProvider?.taskType ?? (decision.route == .cloud ? decision.taskType : .heuristic)
        return ExecutionOptions(
            traceID: routed.trace, questionID: routed.question.id, taskType: task,
            // `auto` is not sent, so that the server uses the person's present preference, which may be stricter.
            privacyLevel: routed.question.privacyLevel == .auto ? nil : routed.question.privacyLevel,
            intent: routed.question.intent, model: requestedProvider?.model, rule: rule)
    }

    /// Returns the reason for asking the server without reading the facts of the cache; nil if the device tries first.
    private func reasonToAskServer<Question, Response>(
        _ operation: AIOperation<Question, Response>
    ) throws -> AnswerReason? {
        switch operation.deviceExecution {
        case .never: return .mustBeRecorded
        // If the mode allows only the device, the device makes the digest from the facts that it has.
        case .whenOffline where try !local.choices.mode.staysOnDevice: return .wholeFamily
        case .whenOffline: break
        case .first: break
        }
        if try !local.isSwitchedOn { return .switchedOff }
        guard operation.factDepth != .none, let cachedFamily = try local.cachedFamily, cachedFamily.syncedAt != nil
        else { return nil }
        return cachedFamily.isFresh(at: local.now) ? nil : .stale
    }
}

/// A server that answers AI operations with options.
public protocol AnsweringServer: AIService {
    func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ options: ExecutionOptions
    ) async throws -> Response
}

/// A failure of the server that an error of a call reveals.
public enum ServerFailure: Hashable, Sendable {
    /// The server gave no usable answer: no connection was established (`isConnectionFault`), or the response was late,
    /// incomplete or unreadable, or had a status from 500.
    case unreachable(isConnectionFault: Bool)
    /// The server says that the person lacks the consent `ai_mediation`.
    case consentMissing
    /// The call was cancelled before the server answered.
    case cancelled
}

/// A provider of the server that a person requests for one question.
public struct RequestedProvider: Hashable, Sendable {
    public let taskType: TaskType
    /// The model's name, or the name of the provider of the person's own key; nil for the rules, and for
    /// a provider with one model.
    public let model: String?

    public init(taskType: TaskType, model: String? = nil) {
        self.taskType = taskType
        self.model = model
    }
}

/// The place that answered.
public enum AnswerPlace: String, Sendable, CaseIterable { case device, server }

/// The reason why the device or the server answered.
public enum AnswerReason: String, Sendable, CaseIterable {
    /// The cache is fresh and has the facts.
    case fresh
    /// The cache is older than a day, or from the future after a clock was set back.
    case stale
    /// The cache has never been synced completely.
    case neverSynced = "never_synced"
    /// The cache does not have the nag.
    case nagUnknown = "nag_unknown"
    /// The facts are about another person, whose history the cache does not have.
    case historyMissing = "not_held"
    /// The operation is about the whole family.
    case wholeFamily = "whole_family"
    /// The server has to record the answer before the next one.
    case mustBeRecorded = "must_be_recorded"
    /// The person's preference lets only the server answer.
    case switchedOff = "switched_off"
    /// The server should have answered, but could not be reached.
    case serverUnreachable = "server_unreachable"
    /// The person wants an answer only from the device, or their words stay there.
    case local
    /// The person wants an answer from the server, or from their own provider through it.
    case cloud
    /// The question is too long for the device.
    case tooLong = "too_long"
    /// A constraint decided.
    case constraint

    /// Creates the reason that a rule alone gives; nil if the state of the cache decides, or the question's length.
    init?(_ rule: RoutingRule) {
        switch rule {
        case .policyForceLocal, .policyForceCloud: self = .constraint
        case .privacyLocal: self = .local
        case .privacyCloud: self = .cloud
        case .autoLocal, .autoCloud, .localFailureFallback, .policyBlock, .networkUnavailable:
            return nil
        }
    }

    /// Creates the reason for the route of a question that the device would answer first.
    fileprivate init(autoRoute route: RoutingDecision.Route, _ mode: AIMode) {
        self = route == .local ? .fresh : mode == .byoOnly ? .cloud : .tooLong
    }

    init(_ miss: CacheMiss) {
        self =
            switch miss {
            case .neverSynced: .neverSynced
            case .nagUnknown: .nagUnknown
            case .historyMissing: .historyMissing
            }
    }
}

extension RoutingRule {
    /// Whether a constraint or the person's choice sends the question to the server.
    fileprivate var isForcedCloud: Bool { self == .policyForceCloud || self == .privacyCloud }
}

/// A record of an answer: the place that answered, the reason, and the time that the answer took.
public struct AnswerRecord: Hashable, Sendable {
    public let operation: AIOperationID
    public let place: AnswerPlace
    public let reason: AnswerReason
    public let at: Timestamp
    /// The time that the answer took.
    public let elapsedMicroseconds: Int64
    /// The age of the cache from which the device answered; nil for answers of the server, answers that need no cache,
    /// and records that were read from the cache.
    public let dataAge: Timestamp.Span?

    public init(
        operation: AIOperationID, place: AnswerPlace, reason: AnswerReason, at: Timestamp, elapsedMicroseconds: Int64,
        dataAge: Timestamp.Span? = nil
    ) {
        self.operation = operation
        self.place = place
        self.reason = reason
        self.at = at
        self.elapsedMicroseconds = elapsedMicroseconds
        self.dataAge = dataAge
    }
}

extension EventCache {
    /// Stores the record of an operation's latest answer.
    public func store(_ answer: AnswerRecord) throws(SQLiteError) {
        try database.run(
            """
            INSERT INTO answers (operation, place, reason, at, microseconds)
            VALUES (\(answer.operation.rawValue), \(answer.place.rawValue), \(answer.reason.rawValue), \(answer.at),
                    \(answer.elapsedMicroseconds))
            ON CONFLICT DO UPDATE SET place = excluded.place, reason = excluded.reason, at = excluded.at,
                microseconds = excluded.microseconds
            """)
    }

    /// Returns the record of each operation's latest answer, newest first.
    public func latestAnswerPerOperation() throws(SQLiteError) -> [AnswerRecord] {
        try database.rows("SELECT operation, place, reason, at, microseconds FROM answers ORDER BY at DESC, operation")
        {
            row throws(SQLiteError) -> AnswerRecord? in
            let (operation, place, reason): (String, String, String) = (
                try row["operation"], try row["place"], try row["reason"]
            )
            guard let operation = AIOperationID(rawValue: operation), let place = AnswerPlace(rawValue: place),
                let reason = AnswerReason(rawValue: reason)
            else { return nil }
            return AnswerRecord(
                operation: operation, place: place, reason: reason, at: try row["at"],
                elapsedMicroseconds: try row["microseconds"])
        }.compactMap { $0 }
    }
}
