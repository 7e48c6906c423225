import Contract
import Domain
import DomainSQL
import Foundation
import NagzAI
import SQL
import Testing

@testable import Device
@testable import LocalAI
@testable import SQLite

@Suite("The event cache")
struct CacheTests {
    private let now = start + .hours(1)

    @Test("a page is stored once, with the cursor to go on from")
    func apply() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let first = page(nags: [syncedNag(1)], events: [syncedEvent(1)], cursor: "a", hasMore: true)
            #expect(try cache.apply(first, of: homeFamily, requestedFrom: .cursor(nil), at: now))
            #expect(try cache.cachedFamily(homeFamily)?.syncedAt == nil)
            // Another process was faster: what was asked from elsewhere is not taken.
            #expect(try !cache.apply(first, of: homeFamily, requestedFrom: .cursor(nil), at: now))
            let second = page(nags: [syncedNag(1, status: "completed"), syncedNag(2)], cursor: "b", facts: facts())
            #expect(
                try cache.apply(second, of: homeFamily, requestedFrom: .cursor("a"), at: now, clockAhead: .seconds(4)))
            let cachedFamily = try #require(try cache.cachedFamily(homeFamily))
            #expect(
                cachedFamily.cursor == "b" && cachedFamily.syncedAt == now && cachedFamily.clockAhead == .seconds(4))
            #expect(cachedFamily.isFresh(at: now + .hours(24)) && !cachedFamily.isFresh(at: now + .hours(25)))
            #expect(!cachedFamily.isFresh(at: now - .hours(2)), "a clock that was set back")
            let nags = try cache.nags(of: homeFamily, includingClosed: true)
            #expect(nags.map(\.status) == ["open", "completed"] && nags[0].recipientName == "Me")
            #expect(
                try cache.counts()
                    == CacheCounts(nags: 2, nagEvents: 1, mediations: 0, gamificationEvents: 0, members: 1))
        }
    }

    @Test("a full resync keeps the earlier rows until it is complete, and then only those that came again")
    func refetch() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let all = page(nags: [syncedNag(1), syncedNag(2), syncedNag(3)], events: [syncedEvent(1)], cursor: "a")
            _ = try cache.apply(all, of: homeFamily, requestedFrom: .cursor(nil), at: now)
            let again = page(nags: [syncedNag(2)], cursor: "b", hasMore: true, mustRefetch: true)
            _ = try cache.apply(again, of: homeFamily, requestedFrom: .cursor("a"), at: now)
            #expect(try cache.counts().nags == 3 && cache.cachedFamily(homeFamily)?.isRefetching == true)
            _ = try cache.apply(
                page(nags: [syncedNag(4)], cursor: "c"), of: homeFamily, requestedFrom: .cursor("b"), at: now)
            #expect(try cache.nags(of: homeFamily).map(\.id.low) == [2, 4])
            #expect(try cache.counts().nagEvents == 0 && cache.cachedFamily(homeFamily)?.isRefetching == false)
            let gone = DeletedEntity(entity: "nags", id: ResourceID(high: 1, low: 4))
            let last = page(
                cursor: "d", deleted: [gone, DeletedEntity(entity: "stars", id: ResourceID(high: 1, low: 2))])
            _ = try cache.apply(last, of: homeFamily, requestedFrom: .cursor("c"), at: now)
            #expect(try cache.nags(of: homeFamily).map(\.id.low) == [2])
        }
    }

    @Test("a nag that changes after its end keeps the closing time of its event, whichever comes first")
    func closingTimes() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            func closed() throws -> [Timestamp] {
                try cache.database.rows("SELECT closed_at FROM nags ORDER BY id") { row throws(SQLiteError) in
                    try row["closed_at"]
                }
            }
            let ends = page(
                events: [syncedEvent(1, "nag_completed"), syncedEvent(2, "nag_missed")], cursor: "a", hasMore: true)
            _ = try cache.apply(ends, of: homeFamily, requestedFrom: .cursor(nil), at: now)
            let nags = [
                syncedNag(1, status: "completed"), syncedNag(2, status: "missed"), syncedNag(3, status: "missed"),
            ]
            _ = try cache.apply(page(nags: nags, cursor: "b"), of: homeFamily, requestedFrom: .cursor("a"), at: now)
            #expect(try closed() == [start, start, now])
            let late = page(events: [syncedEvent(3, "nag_missed")], cursor: "c")
            _ = try cache.apply(late, of: homeFamily, requestedFrom: .cursor("b"), at: now + .hours(1))
            #expect(try closed() == [start, start, start])
        }
    }

    @Test("the cache drops closed nags after 30 days, missed ones and events after 90, and open nags never")
    func retention() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let first = page(
                nags: [
                    syncedNag(1), syncedNag(2, status: "completed"), syncedNag(3, status: "completed"),
                    syncedNag(4, status: "missed"),
                ],
                events: [
                    syncedEvent(1), syncedEvent(2, "nag_completed"),
                    syncedEvent(3, "nag_completed", at: start + .days(20)), syncedEvent(4, "nag_missed"),
                ], cursor: "a")
            _ = try cache.apply(first, of: homeFamily, requestedFrom: .cursor(nil), at: start + .days(20))
            func poll(_ cursor: String, _ next: String, days: Int64) throws -> CacheCounts {
                _ = try cache.apply(
                    page(cursor: next), of: homeFamily, requestedFrom: .cursor(cursor), at: start + .days(days))
                return try cache.counts()
            }
            #expect(try poll("a", "b", days: 31).nags == 3)
            #expect(try poll("b", "c", days: 51).nags == 2)
            #expect(
                try poll("c", "d", days: 91)
                    == CacheCounts(nags: 1, nagEvents: 1, mediations: 0, gamificationEvents: 0, members: 0))
        }
    }

    @Test("a missed nag stays as long as its events")
    func missedNags() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let first = page(
                nags: [syncedNag(1, status: "missed")], events: [syncedEvent(1, "nag_missed")], cursor: "a")
            _ = try cache.apply(first, of: homeFamily, requestedFrom: .cursor(nil), at: start)
            for (cursor, next, days, nags) in [("a", "b", 31, 1), ("b", "c", 90, 1), ("c", "d", 91, 0)] {
                _ = try cache.apply(
                    page(cursor: next), of: homeFamily, requestedFrom: .cursor(cursor), at: start + .days(Int64(days)))
                #expect(
                    try cache.counts()
                        == CacheCounts(nags: nags, nagEvents: nags, mediations: 0, gamificationEvents: 0, members: 0))
            }
        }
    }

    @Test("a family's new time zone is stored with its facts")
    func timeZone() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            var told = facts()
            _ = try cache.apply(page(cursor: "a", facts: told), of: homeFamily, requestedFrom: .cursor(nil), at: now)
            #expect(try cache.cachedFamily(homeFamily)?.timeZone == "UTC")
            told.timeZone = "Europe/Berlin"
            _ = try cache.apply(page(cursor: "b", facts: told), of: homeFamily, requestedFrom: .cursor("a"), at: now)
            #expect(try cache.cachedFamily(homeFamily)?.timeZone == "Europe/Berlin")
        }
    }

    @Test("what a person may not see any more is removed from their device")
    func visibility() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            let foreign = syncedNag(1, to: sibling, from: sibling)
            // Of the foreign nag, of an own one, of a foreign one that is gone already, and of none.
            let mediations = [1, 2, 77, 0].enumerated().map { index, nag in
                SyncedAIMediationEvent(
                    id: EventID(high: 5, low: UInt64(index)), nagID: NagID(high: nag == 0 ? 0 : 1, low: UInt64(nag)),
                    promptType: "coaching", tone: "neutral", summary: "s", at: start)
            }
            _ = try cache.apply(
                page(
                    nags: [foreign, syncedNag(2)], events: [syncedEvent(1), syncedEvent(2)], mediations: mediations,
                    cursor: "a", facts: facts()),
                of: homeFamily, requestedFrom: .cursor(nil), at: now)
            #expect(try cache.counts().nags == 2 && cache.counts().mediations == 4)
            _ = try cache.apply(
                page(cursor: "b", facts: facts(role: .child)), of: homeFamily, requestedFrom: .cursor("a"), at: now)
            #expect(try cache.nags(of: homeFamily).map(\.id.low) == [2])
            #expect(try cache.counts().nagEvents == 1 && cache.counts().mediations == 2)
            try cache.remove(homeFamily)
            #expect(try cache.counts().feedRows == 0 && cache.cachedFamily(homeFamily) == nil)
        }
    }

    @Test("people whom no row names any more are removed with their family, and when their last event is pruned")
    func people() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            func people() throws -> Set<UserID> {
                Set(
                    try cache.database.rows("SELECT value FROM words WHERE typeof(value) = 'blob'") {
                        row throws(SQLiteError) in try row["value"] as UserID
                    })
            }
            var missed = syncedEvent(1, "nag_missed")
            missed.payload = ["recipient_id": sibling.description]
            for (family, event) in [(homeFamily, missed), (FamilyID(high: 9, low: 9), syncedEvent(2))] {
                _ = try cache.apply(
                    page(events: [event], cursor: "a"), of: family, requestedFrom: .cursor(nil), at: now)
            }
            #expect(try people() == [me, sibling])
            try cache.remove(homeFamily)
            #expect(try people() == [me])
            _ = try cache.apply(
                page(cursor: "b"), of: FamilyID(high: 9, low: 9), requestedFrom: .cursor("a"), at: now + .days(91))
            #expect(try people().isEmpty)
        }
    }

    @Test("of a payload the words that a person may have written are not kept, and the rules find the rest")
    func payloads() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            func event(_ number: UInt64, _ type: String, _ payload: [String: String]) -> SyncedNagEvent {
                SyncedNagEvent(
                    id: EventID(high: 2, low: number), nagID: NagID(high: 1, low: 1), eventType: type, actorID: me,
                    at: start, payload: payload)
            }
            let events = [
                event(1, "excuse_submitted", ["category": "time_conflict"]), event(2, "note_added", ["text": "sick"]),
                event(3, "excuse_submitted", ["category": "time_conflict", "text": "sick"]),
                event(4, "nag_missed", ["recipient_id": me.description]),
                event(5, "nag_updated", ["from": start.rfc3339, "due_at": start.rfc3339]),
            ]
            _ = try cache.apply(
                page(nags: [syncedNag(1)], events: events, cursor: "a", facts: facts()), of: homeFamily,
                requestedFrom: .cursor(nil), at: now)
            let kept = try cache.database.rows(
                """
                SELECT coalesce(w.value, e.payload) AS payload FROM nag_events e
                LEFT JOIN words w ON w.key = e.codes ORDER BY e.id
                """
            ) { row throws(SQLiteError) in try row["payload"] as String }
            #expect(kept.prefix(4) == [kept[2], "{}", #"{"category":"time_conflict"}"#, "{}"])
            let reader = CacheFacts(cache, family: homeFamily, now: { start + .hours(1) })
            let facts = try await reader.nagFacts(NagID(high: 1, low: 1)).facts
            #expect(facts.timeConflictCount7d == 2 && facts.missCount7d == 1)
        }
    }

    @Test("a damaged cache is put aside and begun anew, and a newer one is left alone")
    func damage() async throws {
        try await withFolder { folder in
            let path = folder + "/cache.db"
            var cache: EventCache? = try EventCache(path: path, seal: .test)
            let nags = (0..<400).map { syncedNag($0) }
            _ = try cache?.apply(page(nags: nags, cursor: "a"), of: homeFamily, requestedFrom: .cursor(nil), at: now)
            cache = nil
            var bytes = try Data(contentsOf: URL(filePath: path))
            for offset in stride(from: 4_096, to: bytes.count, by: 64) { bytes[offset] = 0xff }
            try bytes.write(to: URL(filePath: path))
            let rebuilt = try EventCache(path: path, seal: .test, checksPages: true)
            #expect(rebuilt.wasRebuilt)
            #expect(try rebuilt.counts().feedRows == 0 && rebuilt.cachedFamily(homeFamily) == nil)
            #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
            try rebuilt.database.run(script: "PRAGMA user_version = 99")
            #expect(throws: SQLiteError.newerSchema(version: 99)) { try EventCache(path: path, seal: .test) }
            try EventCache.remove(path)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test("a full disk loses the page that is stored and nothing else")
    func fullDisk() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            _ = try cache.apply(
                page(nags: [syncedNag(1)], cursor: "a"), of: homeFamily, requestedFrom: .cursor(nil), at: now)
            try cache.database.limitPages(to: 40)
            let large = page(nags: (0..<2_000).map { syncedNag($0) }, cursor: "b")
            #expect(throws: SQLiteError.full) {
                try cache.apply(large, of: homeFamily, requestedFrom: .cursor("a"), at: now)
            }
            #expect(try cache.counts().nags == 1 && cache.cachedFamily(homeFamily)?.cursor == "a")
            try cache.database.limitPages(to: 1_000_000)
            #expect(try cache.apply(large, of: homeFamily, requestedFrom: .cursor("a"), at: now))
            #expect(try cache.counts().nags == 2_000)
        }
    }
}

/// What a process that is killed leaves behind: the files as they are between any two statements.
@Suite("A process killed in the middle of a page")
struct CrashTests {
    /// Rows and place of a cache, for comparing.
    private struct Contents: Equatable {
        let counts: CacheCounts
        let cursor: String?
    }

    private func contents(_ path: String) throws -> Contents {
        let cache = try EventCache(path: path, seal: .test, checksPages: true)
        #expect(!cache.wasRebuilt)
        return Contents(counts: try cache.counts(), cursor: try cache.cachedFamily(homeFamily)?.cursor)
    }

    private func copy(_ path: String, to other: String) throws {
        // Without -shm, which a new process makes from the log.
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: other + suffix)
            if FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: other + suffix)
            }
        }
        try? FileManager.default.removeItem(atPath: other + "-shm")
    }

    @Test(
        "when a process is killed at any point, the page is there with its cursor, or nothing of it is",
        arguments: [3, 600])
    func everyPoint(rows: UInt64) async throws {
        try await withFolder { folder in
            let (path, left) = (folder + "/cache.db", folder + "/left.db")
            let cache = try EventCache(path: path, seal: .test)
            _ = try cache.apply(
                page(nags: [syncedNag(9_999)], cursor: "a"), of: homeFamily, requestedFrom: .cursor(nil),
                at: start)
            let before = try contents(path)
            var seen: [Contents] = []
            var faults: [any Error] = []
            var point = 0
            cache.database.afterWrite = {
                point += 1
                guard rows < 10 || point.isMultiple(of: 37) || point > 1_180 else { return }
                do {
                    try copy(path, to: left)
                    seen.append(try contents(left))
                } catch { faults.append(error) }
            }
            let nags = (0..<rows).map { syncedNag($0, status: "completed") }
            let events = (0..<rows).map { syncedEvent($0, "nag_completed") }
            _ = try cache.apply(
                page(nags: nags, events: events, cursor: "b", facts: facts()), of: homeFamily,
                requestedFrom: .cursor("a"),
                at: start)
            cache.database.afterWrite = nil
            let after = try contents(path)
            #expect(faults.isEmpty && seen.count > 10)
            #expect(seen.allSatisfy { $0 == before || $0 == after })
            #expect(seen.first == before && seen.last == after && before != after)
        }
    }
}
