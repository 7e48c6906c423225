import Audit
import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import NagzAI

/// `nagz device status` and `outbox`: the state of this device.
enum DeviceStatus {
    static func showStatus(_ context: DeviceContext, _ arguments: inout Arguments) throws {
        try arguments.finish()
        let session = try context.requireSession()
        let (cache, outbox, now) = (try context.openCache(), try context.openOutbox(), MachineClock.currentTime())
        let cachedFamily = try session.familyID.flatMap { try cache.cachedFamily($0) }
        let (counts, size, answers) = (try cache.counts(), try cache.usedBytes(), try cache.latestAnswerPerOperation())
        let (waitingCount, unappliedCount) = (try outbox.totalWaitingCount(), try outbox.unappliedItems().count)
        try context.warnOfUnreadableItems(outbox)
        let isFresh = cachedFamily?.isFresh(at: now) ?? false
        let log = try cache.knownLog()
        let choices = try session.familyID.map { try cache.choices(of: $0) } ?? .standard
        let constraints = try session.familyID.map { try cache.constraints(of: $0) } ?? []
        if context.asJSON {
            let rows: JSONValue = [
                "nags": .integer(Int64(counts.nags)), "nag_events": .integer(Int64(counts.nagEvents)),
                "ai_mediation_events": .integer(Int64(counts.mediations)),
                "gamification_events": .integer(Int64(counts.gamificationEvents)),
                "members": .integer(Int64(counts.members)),
            ]
            return print(json: [
                "server": .string(session.server.description), "user_id": .string(session.userID.description),
                "family_id": session.familyID.map { .string($0.description) } ?? .null,
                "role": session.role.map { .string($0.rawValue) } ?? .null,
                "synced_at": cachedFamily?.syncedAt.map { .string($0.rfc3339) } ?? .null, "is_fresh": .bool(isFresh),
                "clock_ahead_seconds": cachedFamily?.clockAhead.map { .integer($0.microseconds / 1_000_000) } ?? .null,
                "counts": rows, "ai_choices": choices.jsonValue,
                "constraints": .array(constraints.map { .object($0.jsonMembers) }),
                "log": log?.json ?? .null, "bytes": .integer(Int64(size)), "waiting": .integer(Int64(waitingCount)),
                "unapplied": .integer(Int64(unappliedCount)), "answers": .array(answers.map(\.json)),
            ])
        }
        let role = session.role.map { ", \($0.rawValue)" } ?? ""
        print("signed in   \(session.displayName ?? session.userID.description)\(role), at \(session.server)")
        let ageText = cachedFamily?.age(at: now).map {
            "\($0.displayText) ago" + (isFresh ? "" : ", stale: the server answers first")
        }
        print(
            "synced      \(ageText ?? "never")\(cachedFamily?.isRefetching == true ? ", a full resync is running" : "")"
        )
        print(
            "cache       \(counted(counts.nags, "nag")), \(counted(counts.nagEvents, "event")), \(counted(counts.mediations, "AI event")),"
                + " \(counted(counts.gamificationEvents, "points event")), \(counted(counts.members, "member")); \((size + 1_023) / 1_024) KB"
        )
        let trustText = log.map { $0.isPinned ? "" : ", by the key the server named" } ?? ""
        print(
            "audit log   "
                + (log.map {
                    "\($0.checkpoint.size) entries of \($0.checkpoint.origin) at \($0.checkpoint.time.displayText)"
                }
                    ?? "none") + trustText)
        print("sealed      all texts, with the key in \(context.folder.sealingKeyPath), which only you can read; IDs,")
        print("            times, categories and outcomes are not: keep the folder on an encrypted disk")
        print("outbox      \(waitingCount) to upload, \(unappliedCount) not applied")
        if let ahead = cachedFamily?.clockAhead, abs(ahead.microseconds) > 60_000_000 {
            print(
                "clock       this device's clock is \(ahead.displayText) \(ahead < .seconds(0) ? "behind" : "ahead of") the server's"
            )
        }
        print("AI          mode \(choices.mode.rawValue), privacy level \(choices.privacyLevel.rawValue)")
        for constraint in constraints { print("constraint  \(constraint.name): \(constraint.plainText)") }
        for answer in answers {
            print("\(answer.operation.rawValue.padded(to: 18)) \(answer.at.displayText): \(answer.displayText)")
        }
    }

    /// Shows the waiting and the unapplied items of the outbox, or with `--put-away` dismisses all unapplied ones.
    static func showOrDismissOutbox(_ context: DeviceContext, _ arguments: inout Arguments) throws {
        let dismissesItems = arguments.takeFlag("--put-away")
        try arguments.finish()
        let session = try context.requireSession()
        let outbox = try context.openOutbox()
        let unreadableCount = try context.warnOfUnreadableItems(outbox)
        if dismissesItems {
            let count = try outbox.dismissUnappliedItems()
            return context.asJSON ? print(json: ["put_away": .integer(Int64(count))]) : print("dismissed: \(count)")
        }
        let (waiting, unapplied) = (
            try outbox.waitingItems(of: try context.requireFamily(of: session)), try outbox.unappliedItems()
        )
        if context.asJSON {
            return print(json: [
                "waiting": .array(waiting.map(\.jsonValue)),
                "unapplied": .array(
                    unapplied.map {
                        [
                            "item": $0.item.jsonValue, "is_conflict": .bool($0.isConflict),
                            "code": $0.code.map { .string($0) } ?? .null,
                            "message": $0.message.map { .string($0) } ?? .null,
                        ]
                    }),
            ])
        }
        if waiting.isEmpty, unapplied.isEmpty, unreadableCount == 0 { print("the outbox is empty") }
        for item in waiting {
            print("waiting      \(item.madeAt.displayText)  \(item.act.kind.rawValue)  \(item.nagID?.ending ?? "")")
        }
        for unappliedItem in unapplied {
            let label = unappliedItem.isConflict ? "conflict" : "refused"
            print(
                label.padded(to: 12), unappliedItem.item.madeAt.displayText, unappliedItem.item.act.kind.rawValue,
                unappliedItem.item.nagID?.ending ?? "", unappliedItem.message ?? "", separator: "  ")
        }
    }

    /// Throws if the server did not apply an item of the outbox. Such items stay there until the person dismisses them.
    static func requireAllApplied(_ unapplied: [InputResult]) throws {
        guard let first = unapplied.first else { return }
        let more = unapplied.count > 1 ? " (and \(unapplied.count - 1) more)" : ""
        throw Stop(
            .notApplied, "not applied: \(first.error?.message ?? first.outcome.rawValue)\(more); see nagz device outbox"
        )
    }
}

extension KnownLog {
    fileprivate var json: JSONValue {
        [
            "origin": .string(checkpoint.origin), "size": .integer(checkpoint.size),
            "at": .string(checkpoint.time.rfc3339), "checkpoint": .string(note), "is_pinned": .bool(isPinned),
            "keys": .array(keys.map { .string($0.text) }),
        ]
    }
}

extension AnswerRecord {
    fileprivate var json: JSONValue {
        [
            "operation": .string(operation.rawValue), "place": .string(place.rawValue),
            "reason": .string(reason.rawValue), "at": .string(at.rfc3339),
            "microseconds": .integer(elapsedMicroseconds),
        ]
    }
}

extension Constraint {
    /// The members as `nagz device` prints them.
    var jsonMembers: JSONObject {
        ["id": .string(id.description), "name": .string(name), "plain_text": .string(plainText)]
    }
}
