import Domain
import DomainSQL
import LocalAI
import NagzAI
import SQL
import SQLite

/// Answers from the cache where it may and can, and asks the server otherwise.
///
/// The server is asked when the cache is stale or lacks a fact, for the digest, and for push-backs. A question tells it
/// nothing new: the cache is a copy of its own records. When the server cannot be reached the device answers after all,
/// if it has the facts, and the record of the answer says so. The words of an excuse are summarised here, however old
/// the cache is, or nowhere.
///
/// Before that the question obeys the constraints that the latest sync has brought, and the person's choices. A question
/// that stays local by them never reaches the server; one that goes to the server by them is not answered here.
public struct OnDeviceAIService<Server: AIService>: AIService {
    private let local: LocalAIService
    private let server: Server
    private let isOffline: (any Error) -> Bool
    private let record: (AnswerRecord) -> Void
    private let stopwatch: () -> Int64

    /// - Parameters:
    ///   - isOffline: whether an error of the server's service means that the server was not reached.
    ///   - stopwatch: microseconds since any fixed point.
    ///   - record: called with the source of each answer, and the reason.
    public init(
        local: LocalAIService, server: Server, isOffline: @escaping (any Error) -> Bool,
        stopwatch: @escaping () -> Int64, record: @escaping (AnswerRecord) -> Void = { _ in }
    ) {
        self.local = local
        self.server = server
        self.isOffline = isOffline
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
                    microseconds: stopwatch() - started))
            return response
        }
        let known = try reasonToAskServer(operation)
        // The words of a person stay here where the device may answer.
        let staysHere = known == nil && !question.content.isEmpty
        let routed = try await local.route(operation, question, requiresOffline: staysHere, isAvailable: known == nil)
        let decision = try routed.route.get()
        var reason = AnswerReason(decision.rule, staysHere: staysHere) ?? known ?? .fresh
        if decision.route == .local {
            do {
                if known == .switchedOff { throw LocalRefusal.switchedOff }
                return told(try await local.answerRouted(operation, question, routed), .device, reason)
            } catch let miss as CacheMiss where decision.isFallbackAllowed {
                reason = AnswerReason(miss)
            } catch {
                local.noteRefusal(routed, error)
                throw error
            }
        }
        do {
            return told(try await server.answer(operation, question), .server, reason)
        } catch  where isOffline(error) && !decision.rule.isForcedCloud {
            // The fallback is the more private way, and it is disclosed: nothing more leaves the device.
            guard reason != .switchedOff,
                let response = try? await local.answerRouted(operation, question, routed, replacing: .unavailable)
            else { throw error }
            return told(response, .device, .serverUnreachable)
        }
    }

    /// Why the server is asked before the cache is read; nil where it is not.
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

/// Who answered.
public enum AnswerPlace: String, Sendable, CaseIterable { case device, server }

/// Why that one answered.
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

    /// Nil for a rule that leaves it to the state of the cache.
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

/// Who gave an answer, why, and how long it took.
public struct AnswerRecord: Hashable, Sendable {
    public let operation: AIOperationID
    public let place: AnswerPlace
    public let reason: AnswerReason
    public let at: Timestamp
    public let microseconds: Int64

    public init(
        operation: AIOperationID, place: AnswerPlace, reason: AnswerReason, at: Timestamp, microseconds: Int64
    ) {
        self.operation = operation
        self.place = place
        self.reason = reason
        self.at = at
        self.microseconds = microseconds
    }
}

extension EventCache {
    /// Stores the record of an operation's latest answer.
    public func note(_ answer: AnswerRecord) throws(SQLiteError) {
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
