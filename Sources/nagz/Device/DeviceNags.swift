import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import NagzAI

/// `nagz device nags`: lists the nags in this device's cache.
enum DeviceNags {
    static func list(_ context: DeviceContext, _ arguments: inout Arguments) throws {
        let includesClosed = arguments.takeFlag("--all")
        try arguments.finish()
        let session = try context.requireSession()
        let family = try context.requireFamily(of: session)
        let waitingCompletions = try context.openOutbox().waitingCompletions(in: family)
        let nags = try context.openCache().nags(of: family, includingClosed: includesClosed)
        if context.asJSON {
            return print(json: .array(nags.map { $0.json(isCompletionWaiting: waitingCompletions.contains($0.id)) }))
        }
        if nags.isEmpty { print("no \(includesClosed ? "" : "open ")nags on this device") }
        let now = MachineClock.currentTime()
        let rows = nags.map { nag in
            let name = nag.recipientID == session.userID ? "me" : nag.recipientName ?? nag.recipientID.ending
            let status = waitingCompletions.contains(nag.id) ? "done (to be uploaded)" : nag.statusWord(at: now)
            return [nag.id.ending, nag.dueAt.displayText, name, status, nag.description ?? nag.category]
        }
        for line in aligned(rows) { print(line) }
    }
}

extension CachedNag {
    /// Returns the status in a word for people.
    fileprivate func statusWord(at now: Timestamp) -> String {
        guard status == NagStatus.open.rawValue else { return status }
        if dueAt < now { return "overdue" }
        return opensAt.map { now < $0 } ?? false ? "upcoming" : status
    }

    fileprivate func json(isCompletionWaiting: Bool) -> JSONValue {
        [
            "id": .string(id.description), "creator_id": .string(creatorID.description),
            "recipient_id": .string(recipientID.description),
            "recipient_name": recipientName.map { .string($0) } ?? .null, "due_at": .string(dueAt.rfc3339),
            "category": .string(category), "description": description.map { .string($0) } ?? .null,
            "status": .string(status), "opens_at": opensAt.map { .string($0.rfc3339) } ?? .null,
            "is_reported": .bool(isCompletionWaiting),
        ]
    }
}

/// `nagz device complete`, `excuse` and `note`: each stores an act on the device at once, and uploads it if the server
/// can be reached; otherwise the next sync uploads it.
enum OfflineActionCommand {
    static func run(_ command: String, _ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let (isOffline, sendsWords) = (arguments.takeFlag("--offline"), arguments.takeFlag("--with-words"))
        let capture = Capture(arguments.takeFlag("--dictated") ? .dictation : .keyboard)
        let note = try arguments.takeValue("--note")
        guard let nagText = arguments.takeNext() else { throw Stop(.usage, "nagz device \(command) takes a NAG") }
        let text = command == "complete" ? nil : arguments.takeNext()
        try arguments.finish()
        let session = try context.requireSession()
        let family = try context.requireFamily(of: session)
        let cache = try context.openCache()
        let nagID = try context.resolveNagID(nagText, cache, family)
        let act: InputAct
        switch (command, text) {
        case ("complete", _): act = .status(.completed, note: note)
        case (_, let text?) where !(1...2_000).contains(text.unicodeScalars.count):
            throw Stop(.usage, "the text must have 1 to 2000 characters")
        case ("excuse", let text?) where sendsWords: act = .excuse(text: text, category: nil)
        case ("excuse", let text?):
            let localService = try context.makeLocalService(cache, family, of: session)
            let category = try await localService.summarizeExcuse(text, nagID: nagID).category
            act = .excuse(text: localService.excuseSentence(for: category, nagID: nagID), category: category)
        case (_, let text?): act = .note(text: text)
        default: throw Stop(.usage, "nagz device \(command) takes a NAG and a TEXT")
        }
        try checkCompletion(nagID, act, cache, family)
        let item = OutboxItem(
            clientID: MachineClock.newIdentifier(), nagID: nagID, act: act, madeAt: MachineClock.currentTime(),
            capture: capture)
        try context.openOutbox().add(item, of: family)
        try await printOutcome(item, isOffline ? nil : try await DeviceSync.syncOnce(context, session, cache), context)
    }

    /// Refuses a completion at once if the device knows that the nag has ended or is not open yet.
    private static func checkCompletion(_ id: NagID, _ act: InputAct, _ cache: EventCache, _ family: FamilyID) throws {
        guard case .status = act, let nag = try cache.nag(id, of: family) else { return }
        guard nag.status == NagStatus.open.rawValue else {
            throw Stop(.notApplied, "that nag is already \(nag.status)")
        }
        if let opensAt = nag.opensAt, MachineClock.currentTime() < opensAt {
            throw Stop(.notApplied, "it is too early: that nag can be completed from \(opensAt.displayText)")
        }
    }

    /// Prints whether the server has applied the act.
    /// - Parameter outcome: nil if no upload was attempted.
    /// - Throws: `Stop` if the server did not apply it, or another act of the outbox.
    private static func printOutcome(_ item: OutboxItem, _ outcome: UploadOutcome?, _ context: DeviceContext)
        async throws
    {
        var state = "kept"
        var reason: String?
        switch outcome {
        case .synced(let summary):
            try DeviceStatus.requireAllApplied(summary.unappliedResults)
            state = "applied"
        case .postponed(let error): reason = Stop.message(for: error)
        case nil: break
        }
        if context.asJSON {
            print(json: [
                "client_id": .string(item.clientID.description), "state": .string(state),
                "reason": reason.map { .string($0) } ?? .null,
            ])
        } else if state == "applied" {
            print("done: the server applied it")
        } else {
            print("saved on this device; \(reason.map { "\($0): " } ?? "")the next sync uploads it")
        }
    }
}
