import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Enrichments of inputs")
struct EnrichmentTests {
    private static func tell(
        _ scene: OutboxScene, _ act: InputAct, on nag: NagID? = nil, id: UInt64, as person: TestPerson? = nil
    ) async throws -> InputResult {
        try await scene.upload([scene.item(act, on: nag, id: id)], as: person)[0]
    }

    private static func lastPayload(_ scene: OutboxScene) async throws -> [String: String]? {
        try await scene.server.call(API.syncEvents, SyncQuery(familyID: scene.home.id), as: scene.home.guardian)
            .nagEvents.last?.payload
    }

    @Test("an input has one summary, one relation and one merge, and a repeated one gets the first answer")
    func kinds() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let (note, other) = (
                scene.item(.note(text: "The bus was late"), id: 1), scene.item(.note(text: "Bus!"), id: 2)
            )
            let roots = try await scene.upload([note, other]).compactMap(\.eventID)
            let findings: [(InputAct, InputAct, [String: String])] = [
                (
                    .summary(of: note.clientID, text: "Late bus"), .summary(of: note.clientID, text: "No bus"),
                    ["text": "Late bus"]
                ),
                (
                    .relation(of: note.clientID, to: roots[1]), .relation(of: note.clientID, to: roots[0]),
                    ["to": roots[1].description]
                ),
                (
                    .merge(of: note.clientID, into: roots[1]), .merge(of: note.clientID, into: roots[0]),
                    ["into": roots[1].description]
                ),
            ]
            for (number, (finding, different, payload)) in findings.enumerated() {
                let id = UInt64(10 * number + 10)
                let first = try await server.expectOnly(
                    audit: ["input.enriched"], events: ["input_enriched"], stamped: 0
                ) { try await Self.tell(scene, finding, id: id) }
                #expect(first.outcome == .applied && first.eventID == roots[0])
                var expected = payload
                (expected["of"], expected["kind"]) = (roots[0].description, finding.kind.rawValue)
                #expect(try await Self.lastPayload(scene) == expected)
                let later = try await server.expectOnly {
                    [
                        try await Self.tell(scene, finding, id: id),
                        try await Self.tell(scene, finding, id: id + 1),
                        try await Self.tell(scene, different, id: id + 2),
                    ]
                }
                #expect(later[0] == first && later.map(\.outcome) == [.applied, .applied, .alreadyDone])
            }
            let kept = try await server.rows("SELECT kind FROM enrichments ORDER BY kind")
            #expect(kept == [["kind": "merge"], ["kind": "relation"], ["kind": "summary"]])
            #expect(try await scene.inputs() == (2, 2))
        }
    }

    @Test("the summary of an excuse is in nobody's feed and in no log")
    func excuse() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let excuse = scene.item(.excuse(text: "I was busy with my secret club", category: nil), id: 1)
            let root = try #require(try await scene.upload([excuse])[0].eventID)
            let summary = InputAct.summary(of: excuse.clientID, text: "The zanzibar club met")
            #expect(try await Self.tell(scene, summary, id: 2).outcome == .applied)
            #expect(try await Self.lastPayload(scene) == ["of": root.description, "kind": "summary"])
            for person in scene.home.members {
                let feed = try await server.call("GET", "/api/v1/sync/events?family_id=\(scene.home.id)", as: person)
                #expect(feed.status == 200 && !feed.text.contains("zanzibar"))
            }
            #expect(!"\(try await server.audit(scene.home.id))".contains("zanzibar"))
            #expect(!server.log.lines.joined().contains("zanzibar"))
        }
    }

    @Test("a relation or merge names another input that the person sees, and in the feed none of another nag")
    func others() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let home = scene.home
            let note = scene.item(.note(text: "n"), id: 1)
            let root = try #require(try await scene.upload([note])[0].eventID)
            func noted(by person: TestPerson, to recipient: TestPerson, _ id: UInt64) async throws -> EventID {
                let nag = try await server.nag(from: person, to: recipient)
                return try #require(
                    try await scene.upload([scene.item(.note(text: "o"), on: nag.id, id: id)], as: person)[0].eventID)
            }
            let unseen = try await noted(by: home.guardian, to: home.participant, 2)
            let seen = try await noted(by: home.guardian, to: home.child, 3)
            try await server.expectOnly {
                for (other, code) in [
                    (unseen, ErrorCode.notFound), (EventID(high: 1, low: 1), .notFound), (root, .validationFailed),
                ] {
                    for act in [
                        InputAct.relation(of: note.clientID, to: other), .merge(of: note.clientID, into: other),
                    ] {
                        let result = try await Self.tell(scene, act, id: 9)
                        #expect(result.outcome == .refused && result.error?.code == code)
                    }
                }
            }
            #expect(try await Self.tell(scene, .merge(of: note.clientID, into: seen), id: 10).outcome == .applied)
            #expect(try await Self.lastPayload(scene) == ["of": root.description, "kind": "merge"])
            let nag = try await server.rows("SELECT nag_id FROM inputs WHERE event_id = \(seen)")[0]["nag_id"]
            let target = try #require(nag?.stringValue.flatMap(NagID.init))
            // No circles: what was merged stands for nothing.
            let back = try await scene.upload(
                [scene.item(.merge(of: InputID(high: 0x0b, low: 3), into: root), on: target, id: 11)], as: home.guardian
            )
            #expect(back[0].outcome == .refused && back[0].error?.code == .conflict)
        }
    }

    @Test("typed input has a root too, and its author can enrich it by its event")
    func typed() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let home = scene.home
            let nag = try await server.nag(from: home.guardian, to: home.child)
            try await server.call(
                API.submitExcuse, NagPath(nagID: nag.id), ExcuseCreate(text: "I forgot"), as: home.child)
            _ = try await server.complete(nag.id, as: home.child)
            let draft = try await server.draft("Cleo: dishes", in: home, as: home.guardian)
            try await server.execute(draft, try await server.confirmed(draft, as: home.guardian), as: home.guardian)
            let roots = try await server.rows(
                """
                SELECT i.kind, i.id = i.event_id AS is_event, i.source = e.source AS is_same,
                       e.actor_id = i.user_id AS is_own
                FROM nag_events e JOIN inputs i ON i.family_id = e.family_id AND i.event_id = e.id ORDER BY i.kind
                """)
            #expect(roots.map { $0["kind"] } == ["excuse", "nag", "nag", "status"])
            #expect(roots.allSatisfy { $0["is_event"] == true && $0["is_same"] == true && $0["is_own"] == true })
            let created = try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: home.guardian)
                .nagEvents.first { $0.nagID == nag.id && $0.eventType == "nag_created" }
            let root: EventID = try #require(created).id
            let summary = InputAct.summary(of: root.retyped(), text: "Chores")
            #expect(try await Self.tell(scene, summary, on: nag.id, id: 5, as: home.guardian).outcome == .applied)
            let others = try await Self.tell(scene, summary, on: nag.id, id: 6)
            #expect(others.outcome == .refused && others.error?.code == .notFound)
        }
    }

    @Test("of two inputs merged into each other at once, one merge is applied")
    func parallel() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let items = [scene.item(.note(text: "a"), id: 1), scene.item(.note(text: "b"), id: 2)]
            let roots = try await scene.upload(items).compactMap(\.eventID)
            let outcomes = try await together(12) { number in
                let merge = InputAct.merge(of: items[number % 2].clientID, into: roots[1 - number % 2])
                return try await Self.tell(scene, merge, id: UInt64(20 + number)).outcome
            }
            #expect(Set(outcomes) == [.applied, .refused])
            #expect(try await server.rows("SELECT event_id FROM enrichments").count == 1)
        }
    }

    @Test("a person's export has the inputs with their enrichments, and summaries are deleted with the account")
    func exported() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let person = scene.home.secondGuardian
            let nag = try await server.nag(from: scene.home.guardian, to: person)
            let note = scene.item(.note(text: "n"), on: nag.id, id: 1)
            _ = try await scene.upload([note], as: person)
            _ = try await Self.tell(
                scene, .summary(of: note.clientID, text: "short"), on: nag.id, id: 2, as: person)
            let export = try await server.call(API.exportAccount, as: person)
            let inputs = try #require(export.sections[.inputs])
            #expect(
                inputs.count == 1 && inputs[0]["kind"] == "note"
                    && inputs[0]["id"]?.stringValue == note.clientID.description)
            let found = try #require(inputs[0]["enrichments"]?.arrayValue)
            #expect(found.map { $0["body"] } == [["text": "short"]])
            let others = try await server.call(API.exportAccount, as: scene.home.participant)
            #expect(others.sections[.inputs] == [])
            try await server.call(API.deleteAccount, AccountPath(userID: person.id), as: person)
            server.clock.advance(by: .days(Int64(AccountPurge.standardDays)))
            let (clock, random) = (server.clock, server.random)
            let purged = try await server.database.run { database in
                let sealing = Sealing(TestServer.auditKeyring, random: random)
                let ledger = Ledger(database: database, random: random, sealing: sealing)
                return try await AccountPurge(database: database, ledger: ledger, days: AccountPurge.standardDays)
                    .run(SystemActor.commandLine) { CallContext(systemActAt: clock.now(), random) }
            }
            #expect(purged == 1)
            #expect(try await server.rows("SELECT kind FROM enrichments").isEmpty)
        }
    }
}
