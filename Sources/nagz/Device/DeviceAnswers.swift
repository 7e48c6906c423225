import Contract
import Device
import Domain
import Foundation
import JSON
import NagzAI

/// The mediator's operations, answered by this device where it can.
enum DeviceAnswers {
    static func run(_ command: String, _ desk: DeviceDesk, _ arguments: inout Arguments) async throws {
        let isLocal = arguments.flag("--local")
        let subject = arguments.next()
        try arguments.finish()
        let session = try desk.session()
        let family = try desk.family(of: session)
        let cache = try desk.cache()
        let local = try desk.local(cache, family)
        if isLocal {
            // From here on nothing exists that could send a request.
            let started = MachineClock.microseconds()
            let answer = try await ask(command, local, subject, session, family, desk, cache)
            let record = AnswerRecord(
                operation: answer.operation, place: .device, reason: .local, at: MachineClock.moment(),
                microseconds: MachineClock.microseconds() - started)
            return try tell(answer, record, cache, desk)
        }
        let told = LatestRecord()
        let service = OnDeviceAIService(
            local: local, server: ServerAIService(desk.client(session)), user: session.userID,
            isOffline: { ($0 as? ClientError)?.isOffline ?? false }, stopwatch: MachineClock.microseconds,
            record: { told.record = $0 })
        let answer = try await ask(command, service, subject, session, family, desk, cache)
        try tell(answer, told.record, cache, desk)
    }

    private final class LatestRecord { var record: AnswerRecord? }

    /// An answer as both ways of printing need it.
    private struct Answer {
        let operation: AIOperation
        let json: JSONValue
        let lines: [String]
    }

    private static func ask(
        _ command: String, _ service: some AIService, _ subject: String?, _ session: DeviceSession, _ family: FamilyID,
        _ desk: DeviceDesk, _ cache: EventCache
    ) async throws -> Answer {
        func nag() throws -> NagID {
            guard let subject else { throw Stop(.usage, "nagz device \(command) takes a NAG") }
            return try desk.nag(subject, cache, family)
        }
        switch command {
        case "tone":
            let answer = try await service.selectTone(nagID: try nag())
            return Answer(
                operation: .selectTone, json: answer.jsonValue,
                lines: [
                    "\(answer.tone.rawValue): \(answer.reason)",
                    "misses in 7 days: \(answer.missCount7d), streak: \(answer.streak)",
                ])
        case "coach":
            let answer = try await service.coaching(nagID: try nag())
            return Answer(operation: .coaching, json: answer.jsonValue, lines: [answer.tip])
        case "predict":
            let answer = try await service.predictCompletion(nagID: try nag())
            let reminder = answer.suggestedReminderTime.map { "a reminder would help at \($0.spoken)" }
            return Answer(
                operation: .predictCompletion, json: answer.jsonValue,
                lines: ["likely to be done: \(Int((answer.likelihood * 100).rounded())) %"]
                    + (reminder.map { [$0] } ?? []))
        case "push-back":
            let answer = try await service.pushBack(nagID: try nag())
            return Answer(
                operation: .pushBack, json: answer.jsonValue,
                lines: [answer.message ?? "no push-back: \(answer.reason)"])
        case "patterns":
            guard let user = subject.map({ UserID($0) }) ?? session.userID else {
                throw Stop(.usage, "nagz device patterns takes a user's id")
            }
            let answer = try await service.patterns(userID: user, familyID: family)
            let lines = answer.insights.map { "\($0.dayOfWeek.rawValue): \($0.missCount) misses" }
            return Answer(
                operation: .patterns, json: answer.jsonValue,
                lines: lines.isEmpty ? ["no weekday stands out in the last 90 days"] : lines)
        default:
            let answer = try await service.digest(familyID: family)
            let members = answer.memberSummaries.map {
                "\(($0.displayName ?? $0.userID.ending).padded(to: 12)) \($0.completed)/\($0.totalNags) done, \($0.missed) missed"
            }
            return Answer(operation: .digest, json: answer.jsonValue, lines: [answer.summaryText] + members)
        }
    }

    private static func tell(_ answer: Answer, _ record: AnswerRecord?, _ cache: EventCache, _ desk: DeviceDesk) throws
    {
        if let record { try? cache.note(record) }
        if desk.asJSON {
            return print(json: [
                "answer": answer.json, "place": record.map { .string($0.place.rawValue) } ?? .null,
                "reason": record.map { .string($0.reason.rawValue) } ?? .null,
                "microseconds": record.map { .integer($0.microseconds) } ?? .null,
            ])
        }
        for line in answer.lines { print(line) }
        if let record { desk.say("(\(record.spoken))") }
    }
}
