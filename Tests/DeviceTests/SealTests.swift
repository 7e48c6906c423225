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

@Suite("Words of people in the device's files")
struct SealTests {
    private static let canary = "xyzzycanary"
    private static let now = start + .hours(1)

    /// Whether a file of the folder, or one that SQLite keeps beside it, has the canary.
    private func hasCanary(_ folder: String) throws -> Bool {
        let needle = Data(Self.canary.utf8)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(!names.isEmpty)
        return try names.contains { name in
            try Data(contentsOf: URL(filePath: folder + "/" + name)).range(of: needle) != nil
        }
    }

    private func nag(_ number: UInt64, _ description: String) -> SyncedNag {
        SyncedNag(
            id: NagID(high: 1, low: number), familyID: homeFamily, creatorID: sibling, recipientID: me,
            dueAt: start + .hours(5), category: "chores", doneDefinition: "ack_only", description: description,
            status: "open", createdAt: start, committedAt: nil)
    }

    /// A page whose every field for words has the canary.
    private func page() throws -> SyncResponse {
        let events = ["text", "note", "reason"].enumerated().map { index, name in
            SyncedNagEvent(
                id: EventID(high: 2, low: UInt64(index)), nagID: NagID(high: 1, low: 1), eventType: "note_added",
                actorID: me, at: start, payload: [name: Self.canary, "category": "other"])
        }
        let mediation = SyncedAIMediationEvent(
            id: EventID(high: 5, low: 1), nagID: NagID(high: 1, low: 1), promptType: "coaching", tone: "neutral",
            summary: "A \(Self.canary)", at: start)
        var facts = facts()
        facts.members[0].displayName = Self.canary
        let terms = ConstraintTerms(
            scope: .own, name: Self.canary, type: .privacy, priority: 1,
            conditions: [try ConstraintCondition(field: "content", operator: "contains", value: Self.canary)],
            action: .block(reason: "not \(Self.canary)"))
        facts.constraints = [ConstraintFacts(id: ConstraintID(high: 7, low: 1), terms: terms)]
        return DeviceTests.page(
            nags: [nag(1, Self.canary), nag(2, "another")], events: events, mediations: [mediation], cursor: "a",
            facts: facts)
    }

    private var item: OutboxItem {
        OutboxItem(
            clientID: InputID(high: 3, low: 1), nagID: NagID(high: 1, low: 1), act: .note(text: Self.canary),
            madeAt: start)
    }

    @Test("no file of the device has people's words in the clear, and the device reads them")
    func sealed() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            bench.keepsHistory = true
            _ = try bench.cache.apply(try page(), of: homeFamily, requestedFrom: .cursor(nil), at: Self.now)
            await #expect(throws: QuestionRefusal.self) {
                try await bench.local.summarizeExcuse("I met \(Self.canary)", nagID: NagID(high: 1, low: 1))
            }
            let outbox = try Outbox(path: folder + "/outbox.db", seal: .test)
            try outbox.add(item, of: homeFamily)
            #expect(try !hasCanary(folder), "while the write-ahead log is there")
            let refusal = InputRefusal(code: .conflict, message: "not \(Self.canary)")
            try outbox.record([InputResult(clientID: item.clientID, outcome: .conflict, eventID: nil, error: refusal)])
            #expect(try !hasCanary(folder))
            let cached = try bench.cache.nags(of: homeFamily)
            #expect(cached.map(\.description) == [Self.canary, "another"])
            #expect(cached.map(\.recipientName) == [Self.canary, Self.canary])
            #expect(try bench.cache.constraints(of: homeFamily).map(\.name) == [Self.canary])
            let record = try bench.cache.deviceExecutions(of: homeFamily, limit: 1, at: Self.now).first
            #expect(record?.execution.violationReason == "not \(Self.canary)")
            #expect(try outbox.unappliedItems().map(\.item) == [item])
            #expect(try outbox.unappliedItems().map(\.message) == ["not \(Self.canary)"])
        }
    }

    @Test("with another key the cache counts as damaged, and the outbox is left as it is")
    func otherKey() async throws {
        try await withFolder { folder in
            let (path, other) = (folder + "/cache.db", TextSeal(TextSeal.key(8)))
            var cache: EventCache? = try EventCache(path: path, seal: .test)
            _ = try cache?.apply(try page(), of: homeFamily, requestedFrom: .cursor(nil), at: Self.now)
            cache = nil
            #expect(try !EventCache(path: path, seal: .test).wasRebuilt)
            try Outbox(path: folder + "/outbox.db", seal: .test).add(item, of: homeFamily)
            let rebuilt = try EventCache(path: path, seal: other)
            #expect(try rebuilt.wasRebuilt && rebuilt.cachedFamily(homeFamily) == nil)
            #expect(try rebuilt.apply(try page(), of: homeFamily, requestedFrom: .cursor(nil), at: Self.now))
            #expect(try rebuilt.nags(of: homeFamily).map(\.description) == [Self.canary, "another"])
            let outbox = try Outbox(path: folder + "/outbox.db", seal: other)
            #expect(try outbox.totalWaitingCount() == 1)
            #expect(try outbox.waitingItems(of: homeFamily).isEmpty && outbox.totalUnreadableCount() == 1)
            // Neither the download nor what is done from now on waits for the lost key.
            var later = item
            later.clientID = InputID(high: 3, low: 2)
            try outbox.add(later, of: homeFamily)
            let source = ScriptedSource { _, _ in DeviceTests.page(nags: [syncedNag(3)], cursor: "b") }
            let sync = SyncService(cache: rebuilt, outbox: outbox, source: source, now: { Self.now })
            #expect(try await sync.run(homeFamily).uploadedCount == 1)
            #expect(try source.uploads.map(\.items) == [[later]] && outbox.totalWaitingCount() == 1)
            #expect(try rebuilt.nags(of: homeFamily).count == 3)
            let refusal = InputResult(clientID: item.clientID, outcome: .refused, eventID: nil, error: nil)
            let known = try Outbox(path: folder + "/outbox.db", seal: .test)
            #expect(try known.waitingItems(of: homeFamily) == [item] && known.totalUnreadableCount() == 0)
            try known.record([refusal])
            #expect(try known.unappliedItems().map(\.item) == [item])
            #expect(try outbox.unappliedItems().isEmpty && outbox.totalUnreadableCount() == 1)
        }
    }

    @Test("a sealed text opens in its own row only")
    func moved() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            _ = try cache.apply(try page(), of: homeFamily, requestedFrom: .cursor(nil), at: Self.now)
            try cache.database.run(
                """
                UPDATE nags SET description = (SELECT description FROM nags WHERE id = \(NagID(high: 1, low: 2)))
                WHERE id = \(NagID(high: 1, low: 1))
                """)
            #expect(throws: SQLiteError.corrupt) { try cache.nags(of: homeFamily) }
        }
    }

    @Test("a cache of an earlier program loses its words and is downloaded again, but keeps the known log")
    func earlierCache() async throws {
        for version in 1...4 {
            try await withFolder { folder in
                let path = folder + "/cache.db"
                var old: SQLiteDatabase? = try SQLiteDatabase(path: path)
                try old?.migrate(Array(CacheSchema.migrations.prefix(version)))
                try old?.run("INSERT INTO families (key, id, cursor) VALUES (1, \(homeFamily), 'c')")
                for number in 1...200 {
                    let words = String(repeating: Self.canary + " ", count: 20)
                    try old?.run(
                        """
                        INSERT INTO nags (family, id, creator_id, recipient_id, due_at, category, done_definition,
                                          description, status, created_at, generation)
                        VALUES (1, \(NagID(high: 1, low: UInt64(number))), \(me), \(me), \(start), 'chores', 'ack_only',
                                \(words), 'open', \(start), 0)
                        """)
                }
                try old?.run("DELETE FROM nags WHERE id > \(NagID(high: 1, low: 100))")
                try old?.run("INSERT INTO words (value) VALUES (\("{\"text\":\"\(Self.canary)\"}"))")
                if version > 1 { try old?.run("INSERT INTO log VALUES ('o', 3, 'n', 'k', 0)") }
                try #require(try hasCanary(folder))
                if version.isMultiple(of: 2) { old = nil }
                try Data(Self.canary.utf8).write(to: URL(filePath: path + ".damaged"))
                let cache = try EventCache(path: path, seal: .test)
                old = nil
                #expect(try !cache.wasRebuilt && cache.cachedFamily(homeFamily) == nil)
                #expect(try !hasCanary(folder), "version \(version)")
                let logs = try cache.database.first("SELECT count(*) FROM log") { row throws(SQLiteError) in
                    row.integerOrZero(0)
                }
                #expect(logs == (version > 1 ? 1 : 0))
                #expect(try cache.apply(try page(), of: homeFamily, requestedFrom: .cursor(nil), at: Self.now))
            }
        }
    }

    @Test("the items in an earlier program's outbox are sealed, and none is lost")
    func earlierOutbox() async throws {
        try await withFolder { folder in
            let path = folder + "/outbox.db"
            var old: SQLiteDatabase? = try SQLiteDatabase(path: path)
            try old?.migrate(Array(Outbox.migrations.prefix(1)))
            let text = String(decoding: item.jsonBytes, as: UTF8.self)
            for (number, outcome) in [(1, nil), (2, "conflict")] as [(UInt64, String?)] {
                var item = item
                item.clientID = InputID(high: 3, low: number)
                let text = text.replacing(self.item.clientID.description, with: item.clientID.description)
                try old?.run(
                    """
                    INSERT INTO items (client_id, family_id, nag_id, kind, item, outcome, message)
                    VALUES (\(item.clientID), \(homeFamily), \(item.nagID), 'note', \(text), \(outcome),
                            \(outcome.map { _ in Self.canary }))
                    """)
            }
            old = nil
            try #require(try hasCanary(folder))
            for _ in 0..<2 {
                let outbox = try Outbox(path: path, seal: .test)
                #expect(try outbox.waitingItems(of: homeFamily) == [item])
                #expect(try outbox.unappliedItems().map(\.message) == [Self.canary])
                #expect(try !hasCanary(folder))
            }
        }
    }

    @Test("the sealing key is its folder's own, has mode 600, and is removed by the logout")
    func keyFile() async throws {
        try await withFolder { path in
            let folder = DeviceFolder(path: path)
            let row = NagID(high: 1, low: 1)
            let box = try folder.loadOrCreateSeal().seal("words", .nagDescription, row)
            #expect(try folder.loadOrCreateSeal().open(box, .nagDescription, row) == "words")
            let file = path + "/sealing.key"
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["sealing.key"])
            let status = try FileManager.default.attributesOfItem(atPath: file)
            #expect(status[.posixPermissions] as? Int == 0o600 && status[.size] as? Int == 32)
            try folder.clearPersonalFiles()
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
            #expect(throws: SQLiteError.corrupt) { try folder.loadOrCreateSeal().open(box, .nagDescription, row) }
            try Data([1, 2, 3]).write(to: URL(filePath: file))
            #expect(throws: PrivateFileError.unreadable) { try folder.loadOrCreateSeal() }
        }
    }
}
