import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Imports: joint steps of drafts")
struct ImportStepTests {
    @Test("fifty executions of an import at once have one effect, and all the same answer")
    func parallel() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let chosen = try await scene.imported(3).open()
            let key = try await scene.confirmed(chosen)
            let answers = try await server.expectOnly(
                audit: Array(repeating: "nag.created", count: 3), events: Array(repeating: "nag_created", count: 3),
                stamped: 3
            ) { try await together(50) { _ in try await scene.execute(chosen, key) } }
            #expect(Set(answers).count == 1 && answers[0].states == [.executed, .executed, .executed])
            server.clock.advance(by: .days(2))
            let replay = try await server.expectOnly { try await scene.execute(chosen, nil) }
            #expect(replay == answers[0])
        }
    }

    @Test("when one draft is edited while all are executed on another server, what was confirmed is done, or nothing")
    func editedMeanwhile() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            try await server.withPeers(1) { peers in
                let peer = peers[0]
                for round in 1...3 as ClosedRange<UInt64> {
                    let batch = ImportID(high: 0x0f, low: round)
                    try await scene.send([scene.item(10 * round), scene.item(10 * round + 1)], as: batch)
                    let read = try await scene.read(batch)
                    let (path, chosen) = (ImportPath(importID: batch), read.open())
                    try await server.call(
                        API.approveImport, path,
                        ImportApproval(chosen, acknowledged: DraftKind.suggestedNag.sideEffects),
                        as: scene.home.guardian)
                    let key = try await server.call(API.confirmImport, path, chosen, as: scene.home.guardian)
                    let outcomes = try await together(outcomesOf: 2) { number in
                        if number == 0 {
                            try await server.call(
                                API.executeImport, path, ImportExecution(chosen, confirmation: key.confirmation),
                                as: scene.home.guardian)
                        } else {
                            _ = try await peer.edit(
                                read.drafts[1], DraftBodyChanges(description: .value("other")), as: scene.home.guardian)
                        }
                    }
                    #expect(outcomes.count { (try? $0.get()) != nil } == 1)
                    let made = try await scene.read(batch).drafts.count { $0.resultID != nil }
                    #expect(made == 0 || made == 2)
                }
            }
            #expect(try await server.rows("SELECT id FROM nags WHERE description = 'other'").isEmpty)
        }
    }

    @Test("an import's key is valid for exactly these drafts in these versions, together, once")
    func key() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let batch = try await scene.imported(3)
            let chosen = batch.open()
            let key = try await scene.confirmed(chosen)
            func expectInvalid(_ body: () async throws -> Void) async throws {
                try await server.expectOnly {
                    let refusal = try await expectRefusal(409) { try await body() }
                    #expect(refusal.reason == "confirmation_invalid")
                }
            }
            let two = ImportSelection(drafts: Array(chosen.drafts.prefix(2)))
            try await expectInvalid { try await scene.execute(two, key) }
            try await expectInvalid { try await server.execute(batch.drafts[0], key, as: scene.home.guardian) }
            try await expectInvalid { try await scene.execute(chosen, key, by: scene.home.secondGuardian) }
            try await server.expect(.refusal(.validationFailed, "confirmation")) {
                try await scene.execute(chosen, nil)
            }
            // Another key of one of them voids it.
            _ = try await server.confirm(batch.drafts[1], as: scene.home.guardian)
            try await expectInvalid { try await scene.execute(chosen, key) }
            let second = try await scene.confirm(chosen)
            server.clock.advance(by: Timestamp.Span(microseconds: 60_000_001))
            try await expectInvalid { try await scene.execute(chosen, second) }
            let third = try await scene.confirm(ImportSelection(drafts: chosen.drafts.reversed()))
            server.clock.advance(by: .seconds(60))
            try await scene.execute(chosen, third)
        }
    }

    @Test("after a skipped step, an edit or a rejection the step is refused for all, with the reason")
    func refused() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let batch = try await scene.imported(3)
            let chosen = batch.open()
            func expect(_ reason: String, _ body: () async throws -> Void) async throws {
                try await server.expectOnly {
                    let refusal = try await expectRefusal(409) { try await body() }
                    #expect(refusal.reason == reason)
                }
            }
            try await server.approve(batch.drafts[0], as: scene.home.guardian)
            try await expect("approve_missing") { _ = try await scene.confirm(chosen) }
            // What is approved stays so.
            try await server.expectOnly(audit: ["draft.approved", "draft.approved"]) { try await scene.approve(chosen) }
            try await expect("confirm_missing") { try await scene.execute(chosen, nil) }
            let key = try await scene.confirm(chosen)
            let edited = try await server.edit(
                batch.drafts[2], DraftBodyChanges(category: .meds), as: scene.home.guardian)
            try await expect("version_changed") { try await scene.execute(chosen, key) }
            let anew = try await scene.read().open()
            try await expect("approve_missing") { try await scene.execute(anew, key) }
            try await server.reject(edited, as: scene.home.guardian)
            try await expect("rejected") { try await scene.approve(anew) }
            for effects in [[], [.createNag]] as [[DraftSideEffect]] {
                let other = try await server.draft(in: scene.home, as: scene.home.guardian)
                try await expectRefusal(404) {
                    try await scene.approve(
                        ImportSelection(drafts: [DraftChoice(draftID: other.id, version: 1)]), effects)
                }
            }
            let left = try await scene.read().open()
            try await scene.execute(left, try await scene.confirm(left))
            #expect(try await scene.read().states == [.executed, .executed, .rejected])
        }
    }

    @Test(
        "an approval of an import names all side effects, and voice and shortcuts take no step",
        arguments: [DraftSource.voice, .shortcut])
    func sources(source: DraftSource) async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            try await scene.send([scene.item(1), scene.item(2)], source: source)
            let batch = try await scene.read()
            try await server.expectOnly {
                try await server.expect(.refusal(.validationFailed, "acknowledged_side_effects")) {
                    try await scene.approve(batch.open(), [.createNag])
                }
            }
            let key = try await scene.confirmed(batch.open())
            for step in 0..<3 {
                let spoken = batch.open(source: source)
                let refusal = try await expectRefusal(403) {
                    switch step {
                    case 0: try await scene.approve(spoken)
                    case 1: _ = try await scene.confirm(spoken)
                    default: try await scene.execute(spoken, key)
                    }
                }
                #expect(refusal.reason == "voice_only_creates")
            }
            try await scene.execute(batch.open(source: .camera), key)
            let sources = try await server.rows("SELECT DISTINCT source FROM nags")
            #expect(sources == [["source": .string(StoredSource(source).rawValue)]])
        }
    }

    @Test("an approval of new and changed items together names the side effects of both")
    func mixedKinds() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let first = try await scene.imported(1).open()
            try await scene.execute(first, try await scene.confirmed(first))
            let batch = ImportID(high: 0x0d, low: 2)
            try await scene.send([scene.item(1, after: 5), scene.item(2)], as: batch)
            let chosen = try await scene.read(batch).open()
            let effects = [DraftKind.suggestedNag, .dueChange].map(\.sideEffects)
            #expect(chosen.drafts.count == 2 && Set(effects[0]) != Set(effects[1]))
            for incomplete in effects {
                try await server.expectOnly {
                    try await server.expect(.refusal(.validationFailed, "acknowledged_side_effects")) {
                        try await scene.approve(chosen, incomplete, of: batch)
                    }
                }
            }
            let all = Array(Set(effects.joined()))
            try await scene.approve(chosen, all, of: batch)
            #expect(try await server.expectOnly { try await scene.approve(chosen, all, of: batch) }.states.count == 2)
            let key = try await scene.confirm(chosen, of: batch)
            #expect(try await scene.execute(chosen, key, of: batch).states == [.executed, .executed])
        }
    }

    @Test("if one draft may not be executed, none is, and the refusal alone is recorded")
    func allOrNone() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let home = scene.home
            try await scene.send([scene.item(1), scene.item(2, to: home.participant), scene.item(3)])
            let chosen = try await scene.read().open()
            let key = try await scene.confirmed(chosen)
            let block = try await server.call(
                API.createBlock, BlockCreate(targetID: home.participant.id), as: home.guardian)
            for _ in 0..<2 {
                try await expectRefusal(403) { try await scene.execute(chosen, key) }
                let kinds = try await server.audit(home.id).map(\.kind)
                #expect(kinds.count { $0 == "nag.create.denied" } == 1 && !kinds.contains("nag.created"))
            }
            #expect(try await server.rows("SELECT id FROM nags").isEmpty)
            #expect(try await scene.read().states == [.confirmed, .confirmed, .confirmed])
            try await server.call(
                API.updateBlock, BlockPath(blockID: block.id), BlockUpdate(state: .lifted), as: home.guardian)
            try await server.expectOnly(
                audit: Array(repeating: "nag.created", count: 3), events: Array(repeating: "nag_created", count: 3)
            ) { try await scene.execute(chosen, key) }
            let details = try await server.audit(home.id).filter { $0.kind == "nag.created" }.map(\.details)
            #expect(Set(details.compactMap { $0["draft"] }) == Set(chosen.drafts.map(\.draftID.description)))
        }
    }

    @Test("a repeated idempotency key gets the first answer of an import step, whatever happened since")
    func idempotent() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let header = ["Idempotency-Key": "import-1"]
            let items = [scene.item(1), scene.item(2)]
            let result = try await scene.send(items, headers: header)
            #expect(try await server.expectOnly { try await scene.send(items, headers: header) } == result)
            let chosen = try await scene.read().open()
            let key = try await scene.confirmed(chosen)
            let executed = try await scene.execute(chosen, key, headers: ["Idempotency-Key": "execute-1"])
            let again = try await server.expectOnly {
                try await scene.execute(chosen, key, headers: ["Idempotency-Key": "execute-1"])
            }
            #expect(again == executed)
        }
    }

    @Test("the importer's removal ends the open drafts, and they can execute nothing")
    func removed() async throws {
        try await TestServer.run { server in
            let scene = try await ImportScene(server)
            let chosen = try await scene.imported(2, by: scene.home.participant).open()
            let key = try await scene.confirmed(chosen, by: scene.home.participant)
            try await server.call(
                API.removeMember, MemberPath(familyID: scene.home.id, userID: scene.home.participant.id),
                as: scene.home.guardian)
            try await expectRefusal(404) { try await scene.execute(chosen, key, by: scene.home.participant) }
            #expect(try await scene.read().states == [.rejected, .rejected])
        }
    }
}
