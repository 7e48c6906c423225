import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import NagzAI

/// The commands for AI operations, which this device answers if it can.
enum DeviceAnswers {
    static func run(_ command: AskCommand, _ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let isLocal = arguments.takeFlag("--local")
        let continuesSession = arguments.takeFlag("--session")
        let provider = try arguments.takeValue("--provider")
        let subject = arguments.takeNext()
        try arguments.finish()
        let session = try context.requireSession()
        let family = try context.requireFamily(of: session)
        let cache = try context.openCache()
        let latestRecords = LatestRecords()
        let localService = try context.makeLocalService(cache, family, of: session, continuesSession: continuesSession)
        {
            latestRecords.execution = $0
        }
        let askContext = AskContext(
            commandName: command.name, subject: subject, session: session, family: family, context: context,
            cache: cache)
        if provider != nil, isLocal { throw Stop(.usage, "--local answers here, and --provider at the server") }
        if isLocal {
            // The local service has no access to the network.
            let startMicroseconds = MachineClock.uptimeMicroseconds()
            let answer = try await command.ask(localService, askContext)
            let record = AnswerRecord(
                operation: command.operation, place: .device, reason: .local, at: MachineClock.currentTime(),
                elapsedMicroseconds: MachineClock.uptimeMicroseconds() - startMicroseconds,
                dataAge: command.usesServerRecords ? localService.dataAge : nil)
            latestRecords.record = record
            return try storeAndPrint(answer, latestRecords, cache, context)
        }
        let serverService = try context.makeServerService(session) { latestRecords.execution = $0 }
        let service = OnDeviceAIService(
            local: localService, server: serverService,
            requestedProvider: try provider.map { try requestedProvider($0, cache, family) },
            failure: { ($0 as? ClientError)?.serverFailure }, stopwatch: MachineClock.uptimeMicroseconds,
            record: { latestRecords.record = $0 })
        let answer = try await command.ask(service, askContext)
        try storeAndPrint(answer, latestRecords, cache, context)
    }

    /// Returns the provider of that name: the rules, the server's gateway, or one of the person's own keys.
    private static func requestedProvider(_ name: String, _ cache: EventCache, _ family: FamilyID) throws
        -> RequestedProvider
    {
        switch ProviderName(rawValue: name) {
        case .heuristic: return RequestedProvider(taskType: .heuristic)
        case .serverGateway: return RequestedProvider(taskType: .localModel)
        case .ownProvider: return RequestedProvider(taskType: .cloudModel)
        case .foundationModels, .localGateway, nil: break
        }
        if KeyProvider(rawValue: name) != nil { return RequestedProvider(taskType: .cloudModel, model: name) }
        let knownNames = try cache.providers(of: family)?.items.filter { $0.model != nil }.map(\.name) ?? []
        let names = ([ProviderName.heuristic.rawValue] + knownNames).joined(separator: ", ")
        throw Stop(.usage, "--provider takes one of: \(names)")
    }

    /// The records that are printed beside an answer.
    private final class LatestRecords {
        var record: AnswerRecord?
        var execution: ExecutionReport?
    }

    /// Returns the command of that name; nil if there is none.
    static func command(_ name: String) -> AskCommand? { commands.first { $0.name == name } }

    private static let commands = [
        AskCommand("tone", AIOperations.selectTone, about: { NagQuestion(nagID: try $0.requireNag()) }) { answer in
            [
                "\(answer.tone.rawValue): \(answer.reason)",
                "misses in 7 days: \(answer.missCount7d), streak: \(answer.streak)",
            ]
        },
        AskCommand("coach", AIOperations.coaching, about: { NagQuestion(nagID: try $0.requireNag()) }) { [$0.tip] },
        AskCommand("predict", AIOperations.predictCompletion, about: { NagQuestion(nagID: try $0.requireNag()) }) {
            answer in
            let reminder = answer.suggestedReminderTime.map { "a reminder would help at \($0.displayText)" }
            return ["likely to be done: \(Int((answer.likelihood * 100).rounded())) %"] + (reminder.map { [$0] } ?? [])
        },
        AskCommand("push-back", AIOperations.pushBack, about: { NagQuestion(nagID: try $0.requireNag()) }) { answer in
            [answer.message ?? "no push-back: \(answer.reason)"]
        },
        AskCommand(
            "patterns", AIOperations.patterns,
            about: { MemberQuestion(userID: try $0.resolveUser(), familyID: $0.family) }
        ) { answer in
            let lines = answer.insights.map { "\($0.dayOfWeek.rawValue): \($0.missCount) misses" }
            return lines.isEmpty ? ["no weekday stands out in the last 90 days"] : lines
        },
        AskCommand(
            "ask", AIOperations.askCoach,
            about: { CoachQuestion(familyID: $0.family, userID: $0.session.userID, text: try $0.requireQuestion()) }
        ) { answer in
            [answer.answer]
                + (answer.citations.isEmpty ? [] : ["from: \(answer.citations.map(\.ending).joined(separator: ", "))"])
        },
        AskCommand("digest", AIOperations.digest, about: { FamilyQuestion(familyID: $0.family) }) { answer in
            let members = answer.memberSummaries.map {
                "\(($0.displayName ?? $0.userID.ending).padded(to: 12)) \($0.completed)/\($0.totalNags) done, \($0.missed) missed"
            }
            return [answer.summaryText] + members
        },
    ]

    /// Stores the record of an answer in the cache, and prints the answer.
    private static func storeAndPrint(
        _ answer: PrintableAnswer, _ latestRecords: LatestRecords, _ cache: EventCache, _ context: DeviceContext
    ) throws {
        let record = latestRecords.record
        if let record { try? cache.store(record) }
        if context.asJSON {
            return print(json: [
                "answer": answer.json, "place": record.map { .string($0.place.rawValue) } ?? .null,
                "reason": record.map { .string($0.reason.rawValue) } ?? .null,
                "microseconds": record.map { .integer($0.elapsedMicroseconds) } ?? .null,
                "data_age_seconds": record?.dataAge.map { .integer($0.microseconds / 1_000_000) } ?? .null,
                "execution": latestRecords.execution?.jsonValue ?? .null,
            ])
        }
        for line in answer.lines { print(line) }
        if let record {
            context.printNotice("(\(record.displayText)\(latestRecords.execution.map { "; \($0.displayText)" } ?? ""))")
        }
    }
}
