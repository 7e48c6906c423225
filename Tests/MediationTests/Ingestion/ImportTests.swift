import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Imports: lists that become drafts")
struct ImportTests {
    @Test(
        "three items become drafts after a dry run: one is edited, one rejected, and two become nags"
    )
    func endToEnd() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let (home, items) = (scene.home, (1...3).map { scene.item($0) })
            let rehearsal = try await server.expectOnly { try await scene.send(items, isDryRun: true) }
            #expect(rehearsal.isDryRun && rehearsal.items.map(\.outcome) == [.new, .new, .new])
            #expect(rehearsal.items.allSatisfy { $0.draftID == nil })
            let result = try await server.expectOnly(audit: Array(repeating: "draft.created", count: 3)) {
                try await scene.send(items)
            }
            #expect(result.items.map(\.outcome) == [.new, .new, .new] && !result.isDryRun)
            let batch = try await scene.read()
            #expect(batch.drafts.map(\.id) == result.items.compactMap(\.draftID))
            #expect(batch.drafts.map(\.suggestedNag?.description) == ["number 1", "number 2", "number 3"])
            #expect(batch.drafts.allSatisfy { $0.importID == ImportScene.batch && $0.source == .imported })
            #expect(batch.drafts.map(\.itemID) == (1...3).map(ImportScene.input) && batch.openDrafts == 3)

            try await server.edit(
                batch.drafts[0], DraftBodyChanges(description: .value("edited")), as: home.guardian)
            try await server.reject(batch.drafts[1], as: home.secondGuardian)
            let left = try await scene.read().open()
            let approved = try await server.expectOnly(audit: ["draft.approved", "draft.approved"]) {
                try await scene.approve(left)
            }
            #expect(approved.states == [.approved, .rejected, .approved] && approved.openDrafts == 2)
            let key = try await server.expectOnly(audit: ["draft.confirmed", "draft.confirmed"]) {
                try await scene.confirm(left)
            }
            let executed = try await server.expectOnly(
                audit: ["nag.created", "nag.created"], events: ["nag_created", "nag_created"], stamped: 2
            ) { try await scene.execute(left, key) }
            #expect(executed.states == [.executed, .rejected, .executed] && executed.openDrafts == 0)

            let page = try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: home.child)
            let nags = page.nagEvents.suffix(2).map(\.nagID)
            #expect(Set(nags.map { $0.retyped() }) == Set(executed.drafts.compactMap(\.resultID)))
            #expect(Set(page.nags.suffix(2).map(\.description)) == ["edited", "number 3"])
            let sources = try await server.rows(
                "SELECT DISTINCT source FROM nag_events WHERE nag_id = ANY(\(SQLList(nags)))")
            #expect(sources == [["source": "legacy"]])
            #expect(try await server.expectOnly { try await scene.send(items) } == result)
            let line = try #require(try await server.audit(home.id).last)
            #expect(line.details["draft_import"] == ImportScene.batch.description)
        }
    }

    @Test(
        "an import names each invalid item and drafts the others, and is 422 if all are invalid")
    func invalid() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let items = [
                scene.item(1), scene.item(2, after: 0), scene.item(3, to: scene.home.stranger),
                scene.item(4, to: scene.home.removed),
            ]
            let refusal = try await server.expectOnly {
                try await expectRefusal(422) { try await scene.send(Array(items.dropFirst())) }
            }
            #expect(refusal.code == .validationFailed && refusal.field == "items[0].due_at")
            #expect(
                refusal.message.hasPrefix("Entry 1: ")
                    && refusal.message.hasSuffix("The other entries are invalid, too."))
            let rehearsal = try await server.expectOnly { try await scene.send(items, isDryRun: true) }
            #expect(rehearsal.items.map(\.outcome) == [.new, .invalid, .invalid, .invalid])
            #expect(rehearsal.items[2].error?.field == "items[2].recipient_id")
            let result = try await server.expectOnly(audit: ["draft.created"]) { try await scene.send(items) }
            #expect(result.items.map(\.outcome) == rehearsal.items.map(\.outcome))
            #expect(result.items.map(\.error) == rehearsal.items.map(\.error))
            #expect(result.items.map { $0.draftID != nil } == [true, false, false, false])
            #expect(try await server.expectOnly { try await scene.send(items) } == result)
        }
    }

    @Test("a changed item edits its open draft, or drafts a new due time of the nag that it became")
    func changed() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            func batch(_ number: UInt64) -> ImportID { ImportID(high: 0x0d, low: number) }
            func change(_ hours: Int64, as number: UInt64, isDryRun: Bool = false) async throws -> ImportItemResult {
                try await scene.send([scene.item(1, after: hours)], as: batch(number), isDryRun: isDryRun).items[0]
            }
            let first = try await scene.send([scene.item(1)]).items[0]
            let rehearsal = try await server.expectOnly { try await change(4, as: 2, isDryRun: true) }
            #expect(rehearsal.outcome == .changed && rehearsal.draftID == nil)
            let edited = try await server.expectOnly(audit: ["draft.edited"]) { try await change(4, as: 2) }
            #expect(edited.outcome == .changed && edited.draftID == first.draftID)
            #expect(try await server.expectOnly { try await change(4, as: 2) } == edited)
            #expect(try await server.expectOnly { try await change(4, as: 3) }.outcome == .alreadyImported)
            let chosen = try await scene.read().open()
            #expect(chosen.drafts.map(\.version) == [2])
            try await scene.execute(chosen, try await scene.confirmed(chosen))

            let moved = try await server.expectOnly(audit: ["draft.created"]) { try await change(5, as: 4) }
            #expect(moved.outcome == .changed && moved.draftID != first.draftID)
            #expect(try await server.expectOnly { try await change(5, as: 4) } == moved)
            let proposal = try #require(try await scene.read(batch(4)).drafts.first)
            #expect(proposal.body == .dueChange(DueChange(dueAt: server.clock.now() + .hours(5))))
            let again = try await server.expectOnly(audit: ["draft.edited"]) { try await change(6, as: 5) }
            #expect(again.outcome == .changed && again.draftID == moved.draftID)
            let open = try #require(try await scene.read(batch(4)).drafts.first)
            try await server.approve(open, as: scene.home.guardian)
            try await server.execute(
                open, try await server.confirm(open, as: scene.home.guardian), as: scene.home.guardian)
            let list = try await server.call(
                API.listNags, NagListQuery(familyID: scene.home.id), as: scene.home.guardian)
            #expect(list.items.map(\.dueAt) == [server.clock.now() + .hours(6)])
            // A nag that has ended is left as it is.
            try await server.call(
                API.withdrawNag, NagPath(nagID: list.items[0].id), as: scene.home.guardian)
            #expect(try await server.expectOnly { try await change(7, as: 6) }.outcome == .alreadyImported)
        }
    }

    @Test("an import that is sent again after a later one has changed its items changes nothing")
    func superseded() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let first = try await scene.send([scene.item(1), scene.item(2)])
            let draft = first.items[0].draftID
            for number in 2...3 {
                let later = try await scene.send(
                    [scene.item(1, after: Int64(2 + number)), scene.item(2, after: Int64(2 + number))],
                    as: ImportID(high: 0x0d, low: UInt64(number)))
                #expect(later.items.map(\.outcome) == [.changed, .changed] && later.items[0].draftID == draft)
            }
            try await server.expectOnly {
                for (hours, batch) in [(3, ImportScene.batch), (4, ImportID(high: 0x0d, low: 2))] {
                    let items = [scene.item(1, after: Int64(hours)), scene.item(2, after: Int64(hours))]
                    let late = try await scene.send(items, as: batch)
                    #expect(late.items.map(\.outcome) == [.alreadyImported, .alreadyImported])
                    #expect(late.items[0].draftID == draft)
                    try await server.expect(.refusal(.conflict, "import_id")) {
                        try await scene.send(items + [scene.item(9)], as: batch)
                    }
                }
            }
        }
    }

    @Test("an item's id may be any text, such as a calendar's UID, and is answered as it was sent")
    func textIDs() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            var items = [scene.item(1), scene.item(2), scene.item(3)]
            items[0].itemID = try ImportItemID(wireText: "20261127T1000-äöü@calendar.example.com")
            items[1].itemID = try ImportItemID(wireText: String(repeating: "x", count: 255))
            let result = try await scene.send(items)
            #expect(result.items.map(\.itemID) == items.map(\.itemID) && result.items.allSatisfy { $0.outcome == .new })
            let ids = try await scene.read().drafts.compactMap(\.itemID)
            #expect(Set(ids).count == 3 && ids[0].description.dropFirst(14).first == "8")
            let other = ImportID(high: 0x0d, low: 2)
            let again = try await server.expectOnly { try await scene.send(items, as: other) }
            #expect(again.items.allSatisfy { $0.outcome == .alreadyImported })
            // The id under which a text is stored is the same item, too, and stands once in an import.
            items[2].itemID = ImportItemID(ids[0])
            let refusal = try await expectRefusal(422) { try await scene.send(items, as: other) }
            #expect(refusal.field == "items")
        }
    }

    @Test("an item is imported once, in any batch, and an import with another content of its item is refused")
    func once() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let first = try await scene.send([scene.item(1), scene.item(2)])
            let other = ImportID(high: 0x0d, low: 2)
            let mixed = try await server.expectOnly(audit: ["draft.created"]) {
                try await scene.send([scene.item(2), scene.item(3)], as: other)
            }
            #expect(mixed.items.map(\.outcome) == [.alreadyImported, .new])
            #expect(mixed.items[0].draftID == first.items[1].draftID)
            #expect(try await scene.read(other).drafts.map(\.itemID) == [ImportScene.input(3)])
            try await server.expectOnly {
                #expect(try await scene.send([scene.item(2), scene.item(3)], as: other) == mixed)
                #expect(try await scene.send([scene.item(1)], isDryRun: true).items[0].outcome == .alreadyImported)
                for (item, batch) in [(scene.item(1, after: 9), other), (scene.item(9), ImportScene.batch)] {
                    try await server.expect(.refusal(.conflict, "import_id")) {
                        try await scene.send([item], as: batch)
                    }
                }
                // Another member's items are their own, but not under the same import.
                try await server.expect(.refusal(.conflict, "import_id")) {
                    try await scene.send([scene.item(1)], by: scene.home.participant)
                }
            }
            let own = try await scene.send(
                [scene.item(1)], as: ImportID(high: 0x0d, low: 3), by: scene.home.participant)
            #expect(own.items[0].outcome == .new)
            // What is over stays imported, also when its draft is gone: the first answer, or none in another import.
            server.clock.advance(by: .days(40))
            try await server.sql("DELETE FROM drafts")
            try await server.expectOnly {
                for (batch, outcome) in [
                    (ImportScene.batch, ImportOutcome.new), (ImportID(high: 0x0d, low: 4), .alreadyImported),
                ] {
                    let late = try await scene.send([scene.item(1, after: 3 - 960)], as: batch).items
                    #expect(late.map(\.outcome) == [outcome] && late[0].draftID == first.items[0].draftID)
                }
            }
            #expect(try await scene.draftCount() == 0)
        }
    }

    @Test("an id that a device's outbox used is refused for an item, and the other way round")
    func outbox() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let nag = try await server.nag(from: scene.home.guardian, to: scene.home.child)
            func note(_ id: UInt64) -> OutboxUpload {
                OutboxUpload(
                    familyID: scene.home.id,
                    items: [
                        OutboxItem(
                            clientID: ImportScene.input(id), nagID: nag.id, act: .note(text: "n"),
                            madeAt: server.clock.now())
                    ])
            }
            try await scene.send([scene.item(1)])
            let taken = try await server.expectOnly {
                try await server.call(API.uploadEvents, note(1), as: scene.home.guardian).results
            }
            #expect(taken.map(\.outcome) == [.refused] && taken[0].error?.code == .validationFailed)
            try await server.call(API.uploadEvents, note(2), as: scene.home.guardian)
            try await server.expect(.refusal(.validationFailed, "items[0].item_id")) {
                try await scene.send([scene.item(2)], as: ImportID(high: 0x0d, low: 2))
            }
        }
    }

    @Test("the same import twenty times at once makes one set of drafts, and all get the same answer")
    func parallel() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let items = (1...5).map { scene.item($0) }
            let answers = try await server.expectOnly(audit: Array(repeating: "draft.created", count: 5)) {
                try await together(20) { _ in try await scene.send(items) }
            }
            #expect(Set(answers).count == 1)
            #expect(try await scene.draftCount() == 5)
        }
    }

    @Test("a hundred items are imported and confirmed together; limits of an import, of drafts and of nags hold")
    func limits() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let batch = try await scene.imported(100)
            #expect(batch.drafts.count == 100)
            try await server.expectOnly {
                try await expectRefusal(422) {
                    try await scene.send((1...101).map { scene.item($0) }, as: ImportID(high: 0x0d, low: 9))
                }
            }
            let key = try await scene.confirmed(batch.open())
            let counts = try await server.rows("SELECT count FROM daily_counts WHERE act = 'draft_steps'")
            #expect(counts == [["count": 300]])
            // The family's cap of nags a day is lower: none is made.
            try await server.expectOnly(audit: ["nag.create.denied"]) {
                let refusal = try await expectRefusal(403) { try await scene.execute(batch.open(), key) }
                #expect(refusal.reason == "daily_cap_reached")
            }
            #expect(try await scene.read().states.allSatisfy { $0 == .confirmed })
            let two = ImportSelection(drafts: Array(batch.open().drafts.prefix(2)))
            let done = try await scene.execute(two, try await scene.confirm(two))
            #expect(done.states.prefix(2) == [.executed, .executed] && done.openDrafts == 98)
            #expect(try await server.rows("SELECT id FROM nags").count == 2)
            try await server.sql("UPDATE daily_counts SET count = \(DailyLimit.draftSteps.perDay - 2)")
            let more = ImportID(high: 0x0d, low: 2)
            try await server.expectOnly {
                try await expectRefusal(429) {
                    try await scene.send((201...203).map { scene.item($0) }, as: more)
                }
            }
            let last = try await scene.send((201...202).map { scene.item($0) }, as: more)
            #expect(last.items.map(\.outcome) == [.new, .new])
            try await server.expectOnly {
                try await expectRefusal(429) {
                    try await scene.send([scene.item(203)], as: ImportID(high: 0x0d, low: 3))
                }
            }
        }
    }

    @Test("an import needs the consent, and another family's imports are 404")
    func outsiders() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let batch = try await scene.imported(2, by: scene.home.child)
            for person in [scene.home.participant, scene.home.stranger, scene.home.removed] {
                try await server.expectOnly {
                    try await expectRefusal(404) { try await scene.read(by: person) }
                    try await expectRefusal(404) { try await scene.approve(batch.open(), by: person) }
                    try await expectRefusal(404) { _ = try await scene.confirm(batch.open(), by: person) }
                    try await expectRefusal(404) { try await scene.execute(batch.open(), nil, by: person) }
                }
            }
            #expect(try await scene.read(by: scene.home.secondGuardian) == batch)
            for person in [scene.home.stranger, scene.home.removed] {
                #expect(try await refusal { try await scene.send([scene.item(7)], by: person) }.status == 403)
            }
            // A child may not nag a guardian: the draft is there, and no child can approve it.
            let up = ImportID(high: 0x0d, low: 4)
            try await scene.send([scene.item(8, to: scene.home.guardian)], as: up, by: scene.home.child)
            let own = try await scene.read(up, by: scene.home.child)
            try await server.expectOnly(audit: ["nag.create.denied"]) {
                try await expectRefusal(403) {
                    try await server.call(
                        API.approveImport, ImportPath(importID: up),
                        ImportApproval(own.open(), acknowledged: DraftKind.suggestedNag.sideEffects),
                        as: scene.home.child)
                }
            }
            try await server.sql("UPDATE consents SET revoked_at = \(server.clock.now())")
            try await server.expectOnly {
                let refusal = try await expectRefusal(403) { try await scene.send([scene.item(9)]) }
                #expect(refusal.reason == ErrorReason.consentMissing)
            }
        }
    }
}
