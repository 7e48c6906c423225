import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import SQLite
import Testing

@Suite("Sync")
struct SyncTests {
    struct Down: Error {}

    private func item(_ number: UInt64, _ act: InputAct = .note(text: "n")) -> OutboxItem {
        OutboxItem(
            clientID: InputID(high: 3, low: number), nagID: NagID(high: 1, low: number), act: act, madeAt: start)
    }

    @Test("a sync asks for pages until there are no more, each from where the last one ended")
    func paging() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let source = ScriptedSource { query, number in
                page(
                    nags: [syncedNag(UInt64(number))], cursor: "\(number)", hasMore: number < 4,
                    mustRefetch: number == 1, facts: number == 4 ? facts() : nil)
            }
            let service = SyncService(cache: cache, outbox: nil, source: source, now: { start })
            var rowCounts: [Int] = []
            let summary = try await service.run(homeFamily) { rowCounts.append($0.rowCount) }
            #expect(source.queries.map(\.cursor) == ["start", "1", "2", "3"])
            #expect(source.queries.allSatisfy { $0.includesFacts && $0.since == nil })
            #expect(
                summary.pageCount == 4 && summary.rowCount == 4 && summary.wasRefetched && rowCounts == [1, 2, 3, 4])
            #expect(try cache.counts().nags == 4 && cache.cachedFamily(homeFamily)?.clockAhead == .seconds(3))
        }
    }

    @Test("in timestamp mode since is server_time rounded down to the second, and doubled rows do no harm")
    func timestamps() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let source = ScriptedSource { query, number in
                page(
                    nags: [syncedNag(1), syncedNag(UInt64(number))], cursor: "\(number)", hasMore: number < 3,
                    time: start + .milliseconds(Int64(number) * 1_700))
            }
            let service = SyncService(cache: cache, outbox: nil, source: source, mode: .timestamps, now: { start })
            _ = try await service.run(homeFamily)
            #expect(source.queries.map(\.since) == [nil, start + .seconds(1), start + .seconds(3)])
            #expect(source.queries.allSatisfy { $0.cursor == nil })
            #expect(try cache.counts().nags == 3)
        }
    }

    @Test("a sync that breaks off is resumed where it was", arguments: [1, 2, 3])
    func resume(failing: Int) async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let source = ScriptedSource { query, number in
                if number == failing { throw Down() }
                let place = query.cursor == "start" ? 0 : Int(query.cursor ?? "") ?? -1
                return page(nags: [syncedNag(UInt64(place))], cursor: "\(place + 1)", hasMore: place < 2)
            }
            let service = SyncService(cache: cache, outbox: nil, source: source, now: { start })
            await #expect(throws: Down.self) { try await service.run(homeFamily) }
            #expect(try cache.cachedFamily(homeFamily)?.syncedAt == nil)
            let summary = try await service.run(homeFamily)
            #expect(summary.pageCount == 4 - failing && source.queries.count == 4)
            #expect(try cache.counts().nags == 3 && cache.cachedFamily(homeFamily)?.syncedAt == start)
        }
    }

    @Test("a cancelled sync ends between two pages and keeps what it stored")
    func cancellation() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let source = ScriptedSource { _, number in
                if number == 2 { withUnsafeCurrentTask { $0?.cancel() } }
                return page(nags: [syncedNag(UInt64(number))], cursor: "\(number)", hasMore: true)
            }
            let service = SyncService(cache: cache, outbox: nil, source: source, now: { start })
            await #expect(throws: CancellationError.self) { try await service.run(homeFamily) }
            #expect(source.queries.count == 2)
            #expect(try cache.counts().nags == 2 && cache.cachedFamily(homeFamily)?.cursor == "2")
        }
    }

    @Test("a server that repeats a cursor, or starts over and over, is not followed for ever")
    func noProgress() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            for refetches in [false, true] {
                let source = ScriptedSource { _, number in
                    page(cursor: refetches ? "\(number)" : "x", hasMore: true, mustRefetch: refetches)
                }
                let service = SyncService(cache: cache, outbox: nil, source: source, now: { start })
                await #expect(throws: SyncFault.noProgress) { try await service.run(homeFamily) }
                #expect(source.queries.count <= 4)
                try cache.remove(homeFamily)
            }
        }
    }

    @Test("a sync first uploads the outbox in order and in batches, and keeps what was not applied")
    func outbox() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let outbox = try Outbox(path: folder + "/outbox.db", seal: .test)
            for number in 0..<250 { try outbox.add(item(UInt64(number)), of: homeFamily) }
            try outbox.add(item(900), of: FamilyID(high: 9, low: 9))
            let source = ScriptedSource(pages: { _, _ in page(cursor: "a") }) { upload, _ in
                OutboxAnswer(
                    results: upload.items.map { item in
                        let isLate = item.clientID.low == 120
                        return InputResult(
                            clientID: item.clientID, outcome: isLate ? .conflict : .applied, eventID: nil,
                            error: isLate ? InputRefusal(code: .conflict, message: "Too late.") : nil)
                    })
            }
            let service = SyncService(cache: cache, outbox: outbox, source: source, now: { start })
            let summary = try await service.run(homeFamily)
            #expect(source.uploads.map(\.items.count) == [100, 100, 50])
            #expect(source.uploads.flatMap(\.items).map(\.clientID.low) == Array(0..<250))
            #expect(summary.uploadedCount == 250 && summary.unappliedResults.map(\.clientID.low) == [120])
            let kept = try outbox.unappliedItems()
            #expect(kept.map(\.item) == [item(120)] && kept[0].isConflict && kept[0].message == "Too late.")
            #expect(try outbox.totalWaitingCount() == 1)
            #expect(try outbox.dismissUnappliedItems() == 1 && outbox.unappliedItems().isEmpty)
        }
    }

    @Test("an unanswered upload is repeated unchanged, and a missing result is an error")
    func uploadAgain() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let outbox = try Outbox(path: folder + "/outbox.db", seal: .test)
            let act = InputAct.status(.completed, note: "é")
            try outbox.add(item(1, act), of: homeFamily)
            #expect(try outbox.waitingCompletions(in: homeFamily) == [NagID(high: 1, low: 1)])
            let source = ScriptedSource(pages: { _, _ in page(cursor: "a") }) { upload, number in
                if number == 1 { throw Down() }
                return OutboxAnswer(results: [])
            }
            let service = SyncService(cache: cache, outbox: outbox, source: source, now: { start })
            await #expect(throws: Down.self) { try await service.run(homeFamily) }
            await #expect(throws: SyncFault.unanswered) { try await service.run(homeFamily) }
            #expect(source.uploads.map(\.items) == [[item(1, act)], [item(1, act)]])
            #expect(try outbox.totalWaitingCount() == 1)
        }
    }

    @Test("watching waits the interval after success, longer after each failure, and ends with a fatal error")
    func watch() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            struct Fatal: Error {}
            let source = ScriptedSource { _, number in
                switch number {
                case 2, 3, 4, 5: throw Down()
                case 7: throw Fatal()
                default: return page(nags: [syncedNag(UInt64(number))], cursor: "\(number)")
                }
            }
            let clock = WaitingClock()
            let service = SyncService(cache: cache, outbox: nil, source: source, now: clock.now)
            var outcomes: [Bool] = []
            await #expect(throws: Fatal.self) {
                try await service.watch(
                    homeFamily, schedule: SyncSchedule(interval: .seconds(10)), clock: clock, random: { 0.5 },
                    retryDelaySeconds: { $0 is Down ? (outcomes.count == 3 ? 30 : 0) : nil }
                ) { result in
                    outcomes.append((try? result.get()) != nil)
                }
            }
            #expect(outcomes == [true, false, false, false, false, true])
            let expected: [Timestamp.Span] = [10_000, 750, 1_500, 30_000, 6_000, 10_000].map { .milliseconds($0) }
            #expect(clock.waits == expected)
        }
    }

    @Test("watching a source of changes syncs at each change, without waiting for the interval")
    func changes() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            struct Enough: Error {}
            let changes = ScriptedChanges()
            let source = ScriptedSource { _, number in
                if number == 5 { throw Enough() }
                return page(nags: [syncedNag(UInt64(number))], cursor: "\(number)")
            }
            let clock = WaitingClock()
            let service = SyncService(cache: cache, outbox: nil, source: source, now: clock.now)
            var rounds = 0
            await #expect(throws: Enough.self) {
                try await service.watch(
                    homeFamily, changes: changes, schedule: SyncSchedule(interval: .minutes(60)),
                    clock: NeverClock(), random: { 0.5 }, retryDelaySeconds: { _ in nil }
                ) { _ in
                    rounds += 1
                    // The second round follows the opening.
                    if rounds >= 2 { changes.tell() }
                }
            }
            #expect(rounds == 4 && changes.families == [homeFamily])
        }
    }

    @Test("a sync comes at least every five minutes while a source of changes reports none")
    func quiet() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            struct Enough: Error {}
            let source = ScriptedSource { _, number in
                if number == 5 { throw Enough() }
                return page(cursor: "\(number)")
            }
            // Polling would wait for an hour: those waits end only with the opening of the socket.
            let clock = ImpatientClock(limit: .minutes(5))
            let service = SyncService(cache: cache, outbox: nil, source: source, now: clock.now)
            var synced: [Timestamp] = []
            await #expect(throws: Enough.self) {
                try await service.watch(
                    homeFamily, changes: ScriptedChanges(), schedule: SyncSchedule(interval: .minutes(60)),
                    clock: clock, random: { 0.5 }, retryDelaySeconds: { _ in nil }
                ) { _ in
                    if let last = try? cache.cachedFamily(homeFamily)?.syncedAt { synced.append(last) }
                }
            }
            #expect(!clock.waits.isEmpty && clock.waits.allSatisfy { $0 == .seconds(270) })
            let (first, last) = (try #require(synced.first), try #require(synced.last))
            #expect(synced.count == 4 && last - first >= .seconds(540))
            #expect(SyncSchedule.delayWhileListening(random: 0.999) <= .minutes(5))
        }
    }

    @Test("waits between syncs are jittered, grow to a ceiling, and start anew after success")
    func schedule() {
        var standard = SyncSchedule()
        let waits = [0.0, 0.5, 0.999].map { standard.nextDelay(after: .done, random: $0) }
        #expect(
            waits[0] == .minutes(4) && waits[1] == .minutes(5) && waits[2] > .seconds(359) && waits[2] < .minutes(6))
        var schedule = SyncSchedule(interval: .seconds(15), maxFailureDelay: .seconds(60))
        #expect(schedule.nextDelay(after: .done, random: 0) == .seconds(12))
        #expect(schedule.nextDelay(after: .done, random: 0.999) < .seconds(18))
        var last = Timestamp.Span.seconds(0)
        for _ in 0..<100 {
            let wait = schedule.nextDelay(after: .failed(retryAfter: nil), random: 0.999)
            #expect(wait >= last && wait <= .seconds(60))
            last = wait
        }
        #expect(last > .seconds(59))
        #expect(schedule.nextDelay(after: .failed(retryAfter: 90), random: 0) == .seconds(90))
        #expect(schedule.nextDelay(after: .failed(retryAfter: .max), random: 0) == .seconds(3_600))
        _ = schedule.nextDelay(after: .done, random: 0)
        #expect(schedule.nextDelay(after: .failed(retryAfter: nil), random: 0) == .milliseconds(500))
    }
}
