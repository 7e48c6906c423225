import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Nags that were written offline")
struct OutboxNagTests {
    private static func item(
        to recipient: TestPerson, in scene: OutboxScene, id: UInt64 = 1, after hours: Int64 = 3,
        source: InputSource = .keyboard
    ) -> OutboxItem {
        OutboxItem(
            clientID: InputID(high: 0x0c, low: id), nagID: nil,
            act: .nag(
                NagCreate(
                    recipientID: recipient.id, dueAt: scene.server.clock.now() + .hours(hours), category: .chores,
                    doneDefinition: .binaryCheck, description: "the dishes")),
            madeAt: scene.server.clock.now() - .hours(1), capture: Capture(source))
    }

    @Test("a nag in an outbox is created once, with the source of its words, and is in the feed at once")
    func created() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let item = Self.item(to: scene.home.child, in: scene, source: .camera)
            let first = try await server.expectOnly(audit: ["nag.created"], events: ["nag_created"], stamped: 1) {
                try await scene.upload([item], as: scene.home.guardian)
            }
            #expect(first.map(\.outcome) == [.applied])
            let page = try await server.call(API.syncEvents, SyncQuery(familyID: scene.home.id), as: scene.home.child)
            let event = try #require(page.nagEvents.last)
            #expect(event.id == first[0].eventID)
            let nag = try await server.call(API.getNag, NagPath(nagID: event.nagID), as: scene.home.child)
            #expect(nag.creatorID == scene.home.guardian.id && nag.description == "the dishes" && nag.status == .open)
            let rows = try await server.rows(
                """
                SELECT i.kind, i.source, e.source AS event_source, n.source AS nag_source, i.nag_id = n.id AS is_same
                FROM inputs i JOIN nag_events e ON e.family_id = i.family_id AND e.id = i.event_id
                JOIN nags n ON n.family_id = e.family_id AND n.id = e.nag_id
                """)
            #expect(
                rows == [
                    [
                        "kind": "nag", "source": "camera_ocr", "event_source": "camera_ocr",
                        "nag_source": "camera_ocr",
                        "is_same": true,
                    ]
                ])
            let again = try await server.expectOnly { try await scene.upload([item], as: scene.home.guardian) }
            #expect(again == first)
            let other = Self.item(to: scene.home.participant, in: scene)
            let reused = try await server.expectOnly { try await scene.upload([other], as: scene.home.guardian) }
            #expect(reused[0].outcome == .refused && reused[0].error?.code == .validationFailed)
        }
    }

    @Test("a nag uploaded twelve times at once is one nag")
    func concurrent() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let item = Self.item(to: scene.home.child, in: scene)
            let answers = try await server.expectOnly(audit: ["nag.created"], events: ["nag_created"], stamped: 1) {
                try await together(12) { _ in try await scene.upload([item], as: scene.home.guardian) }
            }
            #expect(Set(answers).count == 1 && answers[0].map(\.outcome) == [.applied])
        }
    }

    @Test("whoever may create no nag online may create none offline, and the item's refusal stays")
    func refused() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let child = Self.item(to: scene.home.guardian, in: scene)
            let denied = try await server.expectOnly(audit: ["nag.create.denied", "input.not_applied"]) {
                try await scene.upload([child])
            }
            #expect(denied[0].outcome == .refused && denied[0].error?.code == .policyForbidden)
            #expect(try await server.expectOnly { try await scene.upload([child]) } == denied)

            let late = Self.item(to: scene.home.child, in: scene, id: 2, after: -1)
            let stranger = Self.item(to: scene.home.stranger, in: scene, id: 3)
            let results = try await server.expectOnly(audit: ["input.not_applied", "input.not_applied"]) {
                try await scene.upload([late, stranger], as: scene.home.guardian)
            }
            #expect(results.map(\.error?.code) == [.validationFailed, .notFound])
            #expect(try await server.rows("SELECT id FROM nags").count == 1)
            #expect(try await server.rows("SELECT id FROM inputs WHERE nag_id IS NULL").count == 3)
        }
    }

    @Test("the daily limit of nags holds for online and offline together")
    func dailyCap() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            try await server.sql("UPDATE policies SET daily_cap = 3 WHERE family_id = \(scene.home.id)")
            let items = (1...3).map { Self.item(to: scene.home.child, in: scene, id: $0) }
            let results = try await scene.upload(items, as: scene.home.guardian)
            #expect(results.map(\.outcome) == [.applied, .applied, .refused])
            let error = try await expectRefusal(403) {
                try await server.nag(from: scene.home.guardian, to: scene.home.child)
            }
            #expect(error.reason == "daily_cap_reached")
        }
    }

    @Test(
        "a nag item with a family, a connection or a nag's id is refused by that field",
        arguments: ["family_id", "connection_id", "nag_id"])
    func shape(field: String) async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let id = scene.nag.retyped() as ConnectionID
            var item = Self.item(to: scene.home.child, in: scene)
            var order = NagCreate(
                recipientID: scene.home.child.id, dueAt: server.clock.now() + .hours(1), category: .chores,
                doneDefinition: .binaryCheck)
            switch field {
            case "family_id": order.familyID = scene.home.id
            case "connection_id": order.connectionID = id
            default: item.nagID = scene.nag
            }
            item.act = .nag(order)
            let error = try await refusal { try await scene.upload([item], as: scene.home.guardian) }
            #expect(error.status == 422 && error.field?.hasPrefix("items") == true)
        }
    }
}

@Suite("Sources of a nag's events")
struct EventSourceTests {
    @Test("a nag that a draft makes has the draft's source", arguments: DraftSource.allCases)
    func drafts(source: DraftSource) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft(in: family, source: source, as: family.guardian)
            let key = try await server.confirmed(draft, as: family.guardian)
            try await server.execute(draft, key, as: family.guardian)
            let rows = try await server.rows(
                """
                SELECT e.source, n.source AS nag_source FROM nag_events e
                JOIN nags n ON n.family_id = e.family_id AND n.id = e.nag_id
                """)
            let stored = JSONValue.string(StoredSource(source).rawValue)
            #expect(rows == [["source": stored, "nag_source": stored]])
        }
    }

    @Test("a request's event has the source text, and that of a series' next instance the system's")
    func requests() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let first = try await server.nag(from: family.guardian, to: family.child, every: .daily)
            try await server.call(
                API.updateNag, NagPath(nagID: first.id), NagUpdate(category: .meds), as: family.guardian)
            _ = try await server.complete(first.id, as: family.child)
            let rows = try await server.rows(
                "SELECT event_type, source, nag_id = \(first.id) AS is_first FROM nag_events ORDER BY 3, 1")
            #expect(
                rows == [
                    ["event_type": "nag_created", "source": "system", "is_first": false],
                    ["event_type": "nag_completed", "source": "text", "is_first": true],
                    ["event_type": "nag_created", "source": "text", "is_first": true],
                    ["event_type": "nag_updated", "source": "text", "is_first": true],
                ])
            let nags = try await server.rows("SELECT source FROM nags ORDER BY source")
            #expect(nags.map { $0["source"] } == ["system", "text"])
        }
    }

    @Test("a draft's source is never stored as the system's")
    func mapping() {
        let stored = DraftSource.allCases.map { StoredSource($0) }
        #expect(stored == [.text, .cameraText, .galleryText, .document, .voice, .text, .legacy])
    }
}
