import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import NagzAI
import SQLite

/// `nagz device sync`: uploads the outbox and downloads the feed, once or with `--watch` repeatedly.
enum DeviceSync {
    static func run(_ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let isWatching = arguments.takeFlag("--watch")
        let intervalSeconds = try arguments.takeNumber("--every", in: 1...86_400)
        let mode = try arguments.takeValue("--mode") ?? SyncMode.cursor.rawValue
        try arguments.finish()
        guard let mode = SyncMode(rawValue: mode) else { throw Stop(.usage, "--mode takes cursor or timestamps") }
        let session = try context.requireSession()
        let family = try context.requireFamily(of: session)
        let cache = try context.openCache(checksPages: true)
        let client = try context.makeClient(session)
        let service = try context.makeSyncService(client, session, cache, mode: mode)
        let localService = try context.makeLocalService(cache, family, of: session)
        do {
            guard isWatching else {
                let summary = try await service.run(family) { showProgress($0, context) }
                try await context.downloadProvidersIfUsed(client, cache, family)
                return try printSummary(summary, try await takeNewPatternAlerts(localService), cache, context)
            }
            // If the server cannot be reached, the providers of the last download are used.
            do {
                try await context.downloadProvidersIfUsed(client, cache, family)
            } catch let error as ClientError where error.isTransient {
                context.printNotice(Stop.message(for: error))
            }
            let schedule = intervalSeconds.map { SyncSchedule(interval: .seconds(Int64($0))) } ?? SyncSchedule()
            if !context.asJSON { print("watching \(session.server); Ctrl-C ends it, and loses nothing") }
            try await service.watch(
                family, changes: client, schedule: schedule, clock: MachineClock(),
                random: { Double.random(in: 0..<1) }, retryDelaySeconds: Stop.retryDelaySeconds
            ) { result in
                switch result {
                case .success(let summary):
                    showRound(summary, (try? await takeNewPatternAlerts(localService)) ?? [], context)
                case .failure(let error):
                    context.printNotice(
                        "\(MachineClock.currentTime().displayTime)  \(Stop.message(for: error)); trying again")
                }
            }
        } catch ClientError.refused(let refusal) where refusal.status == 403 {
            // A person who has left the family must not keep its data.
            try cache.remove(family)
            throw Stop(.noPermission, "\(refusal.message) The family's data was removed from this device.")
        } catch SQLiteError.corrupt {
            try EventCache.moveAside(context.folder.cachePath)
            throw Stop(.tryLater, "the cache was damaged and moved aside: run nagz device sync to download it again")
        }
    }

    /// Runs one round of sync after an act on this device.
    /// - Throws: any error except a transient `ClientError`.
    static func syncOnce(_ context: DeviceContext, _ session: DeviceSession, _ cache: EventCache) async throws
        -> UploadOutcome
    {
        let service = try context.makeSyncService(session, cache)
        do {
            let summary = try await service.run(try context.requireFamily(of: session))
            if summary.wasMediationConsentWithdrawn { context.printNotice(consentWithdrawalNotice) }
            return .synced(summary)
        } catch let error as ClientError where error.isTransient {
            return .postponed(error)
        }
    }

    private static let consentWithdrawalNotice =
        "the consent ai_mediation was withdrawn: this device answers no more questions. What it answered since the"
        + " previous sync is marked: nagz device history --local shows it"

    /// Returns sentences about new patterns, of which the person then counts as notified.
    private static func takeNewPatternAlerts(_ localService: LocalAIService) async throws -> [String] {
        try await localService.takeNewPatternAlerts().map {
            "pattern: \($0.missCount) nags due on a \($0.dayOfWeek.rawValue) were missed in the last 90 days"
        }
    }

    private static func showProgress(_ summary: SyncSummary, _ context: DeviceContext) {
        guard !context.asJSON, isatty(STDERR_FILENO) != 0 else { return }
        FileHandle.standardError.write(Data("\r\(summary.rowCount) rows ".utf8))
    }

    private static func printSummary(
        _ summary: SyncSummary, _ alerts: [String], _ cache: EventCache, _ context: DeviceContext
    ) throws {
        if context.asJSON {
            print(json: summary.json(alerts))
        } else {
            if isatty(STDERR_FILENO) != 0 { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
            let counts = try cache.counts()
            print("synced: \(counted(summary.rowCount, "row")) downloaded, \(counts.feedRows) on this device")
            if summary.uploadedCount > 0 { print("uploaded: \(summary.uploadedCount)") }
            if summary.wasMediationConsentWithdrawn { print(consentWithdrawalNotice) }
            alerts.forEach { print($0) }
        }
        try DeviceStatus.requireAllApplied(summary.unappliedResults)
    }

    private static func showRound(_ summary: SyncSummary, _ alerts: [String], _ context: DeviceContext) {
        if context.asJSON {
            if summary.rowCount > 0 || summary.uploadedCount > 0 { print(json: summary.json(alerts)) }
            return flush()
        }
        let time = MachineClock.currentTime().displayTime
        if summary.wasMediationConsentWithdrawn { print("\(time)  \(consentWithdrawalNotice)") }
        if summary.uploadedCount > 0 { print("\(time)  uploaded \(summary.uploadedCount)") }
        for result in summary.unappliedResults { print("\(time)  NOT APPLIED: \(result.error?.message ?? "")") }
        for nag in summary.latestNags {
            print("\(time)  \(nag.status.padded(to: 10)) \(nag.id.ending)  \(nag.description ?? nag.category)")
        }
        if summary.rowCount > summary.latestNags.count {
            print("\(time)  \(counted(summary.rowCount - summary.latestNags.count, "change"))")
        }
        for alert in alerts { print("\(time)  \(alert)") }
        flush()
    }

    /// Flushes standard output, so that output to a pipe appears at once.
    private static func flush() { fflush(nil) }
}

/// The outcome of an attempt to upload the outbox.
enum UploadOutcome {
    /// The round succeeded. The summary has the items that the server did not apply.
    case synced(SyncSummary)
    /// The server was not reached, or gave no usable answer. The outbox keeps the items for a later round.
    case postponed(ClientError)
}

extension SyncSummary {
    fileprivate func json(_ alerts: [String]) -> JSONValue {
        [
            "pages": .integer(Int64(pageCount)), "rows": .integer(Int64(rowCount)),
            "uploaded": .integer(Int64(uploadedCount)),
            "refetched": .bool(wasRefetched), "consent_withdrawn": .bool(wasMediationConsentWithdrawn),
            "unapplied": .array(unappliedResults.map(\.jsonValue)),
            "nags": .array(latestNags.map(\.jsonValue)), "pattern_alerts": .array(alerts.map { .string($0) }),
        ]
    }
}
