import Contract
import Domain
import DomainSQL
import LocalAI
import NagzAI
import SQL
import SQLite

/// Answers from the cache where that is allowed and possible, and asks the server otherwise.
///
/// The server is asked when the cache is stale or lacks a fact, for the digest, and for push-backs. A question reveals
/// nothing new to it, because the cache is a copy of its own records. When the server cannot be reached, the device
/// answers nevertheless if it has the facts, and the record of the answer says so. The words of an excuse are only ever
/// summarised on the device, however old the cache is.
///
/// Before that, the constraints of the latest sync and the person's choices decide. A question that must stay local
/// never reaches the server; one that they send to the server is not answered by the device.
public struct OnDeviceAIService<Server: AnsweringServer>: AIService {
    private let local: LocalAIService
    private let server: Server
    private let wanted: WantedProvider?
    private let failure: (any Error) -> ServerFailure?
    private let record: (AnswerRecord) -> Void
    private let stopwatch: () -> Int64

    /// - Parameters:
    ///   - wanted: the server's provider that the person wants to answer; nil if their choices decide.
    ///   - failure: returns the server's failure that an error means; nil for any other error.
    ///   - stopwatch: microseconds since any fixed point.
    ///   - record: called with the source of each answer, and the reason.
    public init(
        local: LocalAIService, server: Server, wanted: WantedProvider? = nil,
        failure: @escaping (any Error) -> ServerFailure?, stopwatch: @escaping () -> Int64,
        record: @escaping (AnswerRecord) -> Void = { _ in }
    ) {
        self.local = local
        self.server = server
        self.wanted = wanted
        self.failure = failure
        self.stopwatch = stopwatch
        self.record = record
    }

    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        let started = stopwatch()
        func told(_ response: Response, _ place: AnswerPlace, _ reason: AnswerReason) -> Response {
            record(
                AnswerRecord(
                    operation: operation.id, place: place, reason: reason, at: local.now,
                    microseconds: stopwatch() - started,
                    dataAge: place == .device && operation.facts != .none ? local.dataAge : nil))
            return response
        }
        let known = try wanted == nil ? reasonToAskServer(operation) : .cloud
        let isReachable = try local.network == .online
        // While the server cannot be reached, the device stands in for it with what it holds.
        let standsIn = !isReachable && (known == .stale || known == .wholeFamily)
        // The words of a person stay here where the device may answer, unless they ask to have them answered anywhere.
        let staysHere = known == nil && question.keepsWordsOnDevice && !question.content.isEmpty
        let routed = try await local.route(
            operation, question, requiresOffline: staysHere, isAvailable: known == nil || standsIn)
        let decision = try routed.route.get()
        let isStandIn = standsIn && decision.rule == .autoLocal
        var reason =
            AnswerReason(decision.rule, staysHere: staysHere) ?? (isStandIn ? .serverUnreachable : known) ?? .fresh
        var rule = decision.rule
        if decision.route == .local {
            guard wanted == nil else { throw QuestionRefusal.noRoute(.localModelUnavailable) }
            do {
                if known == .switchedOff { throw LocalRefusal.switchedOff }
                return told(
                    try await local.answerRouted(
                        operation, question, routed, replacing: isStandIn ? .unavailable : nil), .device, reason)
            } catch let miss as CacheMiss where decision.isFallbackAllowed {
                guard isReachable else { throw local.refuseUnreachable(routed) }
                (reason, rule) = (AnswerReason(miss), .localFailureFallback)
            } catch {
                local.recordRefusal(routed, error)
                throw error
            }
        }
        do {
            let answer = try await server.answer(operation, question, options(routed, decision, rule))
            local.recordContact(isOfConnection: nil)
            return told(answer, .server, reason)
        } catch {
            let contact = failure(error)
            if case .unreachable(let isOfConnection) = contact {
                local.recordContact(isOfConnection: isOfConnection)
            } else {
                local.recordContact(isOfConnection: nil)
                if contact == .consentMissing { local.noteWithdrawal() }
                throw error
            }
            // The fallback is the more private way, and it is disclosed: nothing more leaves the device. Where the person lets
            // their own provider alone answer, nobody stands in for it.
            guard !decision.rule.isForcedCloud, routed.choices.mode != .byoOnly, reason != .switchedOff, wanted == nil,
                let response = try? await local.answerRouted(operation, question, routed, replacing: .unavailable)
            else { throw local.refuseUnreachable(routed) }
            return told(response, .device, .serverUnreachable)
        }
    }

    /// Returns the options that the server is sent with the question: its trace and name, the rule by which it comes,
    /// and the task that answers.
    private func options(
        _ routed: RoutedQuestion, _ decision: RoutingDecision, _ rule: RoutingRule
    ) -> ExecutionOptions {
        let task = wanted?.taskType ?? (decision.route == .cloud ? decision.taskType : .heuristic)
        return ExecutionOptions(
            traceID: routed.trace, questionID: routed.question.id, taskType: task,
            // The usual level is left to what the person prefers by now, which may be stricter.
            privacyLevel: routed.question.privacyLevel == .auto ? nil : routed.question.privacyLevel,
            intent: routed.question.intent, model: wanted?.model, rule: rule)
    }

    /// Returns the reason for which the server is asked before the cache is read; nil where it is not.
    private func reasonToAskServer<Question, Response>(
        _ operation: AIOperation<Question, Response>
    ) throws -> AnswerReason? {
        switch operation.onDevice {
        case .never: return .mustBeRecorded
        // Where nobody else may answer, the device gives the digest that it can.
        case .whenOffline where try !local.choices.mode.staysOnDevice: return .wholeFamily
        case .whenOffline: break
        case .first: break
        }
        if try !local.isSwitchedOn { return .switchedOff }
        guard operation.facts != .none, let cachedFamily = try local.cachedFamily, cachedFamily.syncedAt != nil else {
            return nil
        }
        return cachedFamily.isFresh(at: local.now) ? nil : .stale
    }
}

/// A server that answers AI operations with options.
public protocol AnsweringServer: AIService {
    func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ options: ExecutionOptions
    ) async throws -> Response
}

/// A failure of the server, as an error shows it.
public enum ServerFailure: Hashable, Sendable {
    /// The server gave no usable answer: no connection was established, or the response was late, incomplete, or had a
    /// status from 500.
    case unreachable(isOfConnection: Bool)
    /// The server says that the consent `ai_mediation` is not in force.
    case consentMissing
}

/// A provider of the server's that a person names for one question.
public struct WantedProvider: Hashable, Sendable {
    public let taskType: TaskType
    /// The model, or the provider of the key; nil for the only one.
    public let model: String?

    public init(taskType: TaskType, model: String? = nil) {
        self.taskType = taskType
        self.model = model
    }
}

/// The place that answered.
public enum AnswerPlace: String, Sendable, CaseIterable { case device, server }

/// The reason for which that place answered.
public enum AnswerReason: String, Sendable, CaseIterable {
    /// The cache is fresh and has the facts.
    case fresh
    /// The cache is older than a day.
    case stale
    case neverSynced = "never_synced"
    case nagUnknown = "nag_unknown"
    /// The facts are about another person.
    case notHeld = "not_held"
    /// The operation is about the whole family.
    case wholeFamily = "whole_family"
    /// The answer has to be recorded before the next one.
    case mustBeRecorded = "must_be_recorded"
    /// The person's preference lets only the server answer.
    case switchedOff = "switched_off"
    /// The server should have answered, but could not be reached.
    case serverUnreachable = "server_unreachable"
    /// The person wants an answer of the device only.
    case local
    /// The person wants an answer of the server.
    case cloud
    /// A constraint decided.
    case constraint

    /// Returns the reason of a rule; nil for a rule that leaves it to the state of the cache.
    init?(_ rule: RoutingRule, staysHere: Bool) {
        switch rule {
        case .policyForceLocal, .policyForceCloud: self = .constraint
        case .privacyLocal where !staysHere: self = .local
        case .privacyCloud: self = .cloud
        case .privacyLocal, .autoLocal, .autoCloud, .localFailureFallback, .policyBlock, .networkUnavailable:
            return nil
        }
    }

    init(_ miss: CacheMiss) {
        self =
            switch miss {
            case .neverSynced: .neverSynced
            case .nagUnknown: .nagUnknown
            case .notHeld: .notHeld
            }
    }
}

extension RoutingRule {
    /// Whether a constraint or the person sends the question to the server.
    fileprivate var isForcedCloud: Bool { self == .policyForceCloud || self == .privacyCloud }
}

/// A record of an answer: its place, the reason, and the time that it took.
public struct AnswerRecord: Hashable, Sendable {
    public let operation: AIOperationID
    public let place: AnswerPlace
    public let reason: AnswerReason
    public let at: Timestamp
    public let microseconds: Int64
    /// The age of the copy from which the device answered; nil for an answer of the server, for one that needs no copy,
    /// and for a record that is read from the cache later.
    public let dataAge: Timestamp.Span?

    public init(
        operation: AIOperationID, place: AnswerPlace, reason: AnswerReason, at: Timestamp, microseconds: Int64,
        dataAge: Timestamp.Span? = nil
    ) {
        self.operation = operation
        self.place = place
        self.reason = reason
        self.at = at
        self.microseconds = microseconds
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
                    \(answer.microseconds))
            ON CONFLICT DO UPDATE SET place = excluded.place, reason = excluded.reason, at = excluded.at,
                microseconds = excluded.microseconds
            """)
    }

    /// The latest answer of each operation, newest first.
    public func latestAnswers() throws(SQLiteError) -> [AnswerRecord] {
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
                microseconds: try row["microseconds"])
        }.compactMap { $0 }
    }
}
