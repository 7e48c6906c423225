import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Uploads of an outbox")
struct UploadTests {
    @Test("each item is applied in order, has one root event, and is in the feed at once")
    func applied() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let items = [
                scene.item(.note(text: "On my way"), id: 1, source: .dictation),
                scene.item(.excuse(text: "I was busy", category: nil), id: 2, source: .camera),
                scene.item(.status(.completed, note: "Done twice over"), id: 3),
            ]
            let results = try await server.expectOnly(
                audit: ["nag.note_added", "excuse.submitted", "nag.completed"],
                events: ["note_added", "excuse_submitted", "nag_completed"], scores: ["nag_completed"], stamped: 1
            ) { try await scene.upload(items) }
            #expect(results.map(\.outcome) == [.applied, .applied, .applied])
            #expect(results.map(\.clientID) == items.map(\.clientID))
            let page = try await server.call(API.syncEvents, SyncQuery(familyID: scene.home.id), as: scene.home.child)
            #expect(results.compactMap(\.eventID) == page.nagEvents.suffix(3).map(\.id))
            let roots = try await server.rows(
                """
                SELECT i.source, e.source AS event_source, e.event_type, i.made_at < i.received_at AS is_older
                FROM inputs i JOIN nag_events e ON e.family_id = i.family_id AND e.id = i.event_id ORDER BY i.id
                """)
            #expect(roots.map { $0["source"] } == ["voice", "camera_ocr", "text"])
            #expect(roots.allSatisfy { $0["source"] == $0["event_source"] && $0["is_older"] == true })
        }
    }

    @Test("a repeated batch, whole, in part or with more items, gets the same answers and does nothing again")
    func replay() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let other = try await server.nag(from: scene.home.guardian, to: scene.home.child, in: scene.home.id)
            try await server.call(API.withdrawNag, NagPath(nagID: other), as: scene.home.guardian)
            let items = [
                scene.item(.status(.completed, note: nil), id: 1),
                scene.item(.status(.completed, note: nil), id: 2),
                scene.item(.status(.completed, note: nil), on: other, id: 3),
                scene.item(.status(.missed, note: nil), id: 4),
                scene.item(.note(text: "x"), on: NagID(high: 1, low: 1), id: 5),
            ]
            let first = try await scene.upload(items)
            #expect(first.map(\.outcome) == [.applied, .alreadyDone, .conflict, .refused, .refused])
            #expect(first[2].error?.code == .conflict && first[3].error?.code == .validationFailed)
            #expect(first[4].error?.code == .notFound)
            let again = try await server.expectOnly { try await scene.upload(items) }
            #expect(again == first)
            let backwards = try await server.expectOnly { try await scene.upload(items.reversed()) }
            #expect(backwards == first.reversed())
            let more = try await server.expectOnly(audit: ["nag.note_added"], events: ["note_added"], stamped: 0) {
                try await scene.upload(items + [scene.item(.note(text: "y"), id: 6)])
            }
            #expect(more.dropLast() == first[...] && more.last?.outcome == .applied)
        }
    }

    @Test("an id that is reused with another content is refused, and another person may use it")
    func reusedID() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            _ = try await scene.upload([scene.item(.note(text: "one"))])
            let reused = try await server.expectOnly { try await scene.upload([scene.item(.note(text: "two"))]) }
            #expect(reused[0].outcome == .refused && reused[0].error?.code == .validationFailed)
            let others = try await scene.upload([scene.item(.note(text: "two"))], as: scene.home.guardian)
            #expect(others[0].outcome == .applied)
        }
    }

    @Test("a batch uploaded twelve times at once is applied once")
    func concurrent() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let items = [scene.item(.note(text: "one"), id: 1), scene.item(.status(.completed, note: nil), id: 2)]
            let answers = try await server.expectOnly(
                audit: ["nag.note_added", "nag.completed"], events: ["note_added", "nag_completed"],
                scores: ["nag_completed"], stamped: 1
            ) {
                try await withThrowingTaskGroup(of: [InputResult].self) { group in
                    for _ in 0..<12 { group.addTask { try await scene.upload(items) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            #expect(Set(answers).count == 1 && answers[0].map(\.outcome) == [.applied, .applied])
        }
    }

    @Test("a refusal by the rules is the item's own, and in the audit log")
    func refusals() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server, consents: [])
            let results = try await server.expectOnly(
                audit: ["nag.submit_excuse.denied", "input.not_applied", "nag.note_added"], events: ["note_added"],
                stamped: 0
            ) {
                try await scene.upload([
                    scene.item(.excuse(text: "I forgot", category: nil), id: 1), scene.item(.note(text: "n"), id: 2),
                ])
            }
            #expect(results.map(\.outcome) == [.refused, .applied])
            #expect(results[0].error?.code == .authorizationDenied)
            let foreign = try await server.expectOnly {
                try await refusal { try await scene.upload([scene.item(.note(text: "n"))], as: scene.home.stranger) }
            }
            #expect(foreign.status == 403)
        }
    }

    @Test("an excuse summarized on the device comes without its words and stays its author's")
    func summary() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            _ = try await scene.upload([
                scene.item(.excuse(text: "Had no time", category: .timeConflict), id: 1),
                scene.item(.excuse(text: "I forgot it", category: nil), id: 2),
            ])
            let excuses = try await server.rows(
                "SELECT text, summary, category, source FROM excuses ORDER BY category DESC")
            #expect(excuses.map { $0["text"] } == [.null, "I forgot it"])
            #expect(excuses[0]["summary"] == "Had no time" && excuses[0]["category"] == "time_conflict")
            let found = try await server.rows(
                "SELECT source, body->>'category' AS category FROM enrichments ORDER BY 2")
            #expect(found.map { $0["source"] } == ["system", "text"])
        }
    }

    @Test("a batch without items, with more than 100, or with an id twice is refused", arguments: [0, 101])
    func sizes(count: Int) async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let items = (0..<count).map { scene.item(.note(text: "n"), id: UInt64($0)) }
            #expect(try await refusal { try await scene.upload(items) }.status == 422)
            let twice = [scene.item(.note(text: "n")), scene.item(.note(text: "n"))]
            #expect(try await refusal { try await scene.upload(twice) }.field == "items")
        }
    }
}

@Suite("Inputs of all sources")
struct IngestionTests {
    @Test("a typed request has a root event and provenance too")
    func typed() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let path = NagPath(nagID: scene.nag)
            try await server.call(API.submitExcuse, path, ExcuseCreate(text: "I forgot"), as: scene.home.child)
            try await server.call(
                API.updateNagStatus, path, NagStatusUpdate(status: .completed), as: scene.home.child)
            try await server.call(
                API.updateNagStatus, path, NagStatusUpdate(status: .completed), as: scene.home.child)
            let inputs = try await scene.inputs()
            #expect(inputs == (2, 2))
            let orphans = try await server.rows(
                """
                SELECT i.id FROM inputs i LEFT JOIN nag_events e ON e.family_id = i.family_id AND e.id = i.event_id
                WHERE e.id IS NULL OR e.source <> i.source
                """)
            #expect(orphans.isEmpty)
        }
    }

    @Test("every input source is stored as its own, and none as the system's")
    func provenance() {
        let stored = InputSource.allCases.map { StoredSource($0) }
        #expect(Set(stored) == Set(StoredSource.allCases).subtracting([.system]))
        #expect(
            StoredSource(InputSource.keyboard).rawValue == "text"
                && StoredSource(InputSource.dictation).rawValue == "voice")
        #expect(
            StoredSource(InputSource.camera).rawValue == "camera_ocr"
                && StoredSource(InputSource.gallery).rawValue == "gallery_ocr")
        #expect(
            StoredSource(InputSource.document).rawValue == "document"
                && StoredSource(InputSource.habit).rawValue == "habit")
        #expect(
            StoredSource(InputSource.imported).rawValue == "legacy"
                && StoredSource(InputSource.onboarding).rawValue == "onboarding")
    }

    @Test("an excuse has one classification from the same moment, by any way it came")
    func classifiedAtOnce() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            try await server.call(
                API.submitExcuse, NagPath(nagID: scene.nag), ExcuseCreate(text: "I forgot"), as: scene.home.child)
            for (number, source) in InputSource.allCases.enumerated() {
                let category: ExcuseCategory? = number.isMultiple(of: 2) ? .refused : nil
                _ = try await scene.upload([
                    scene.item(.excuse(text: "I was busy", category: category), id: UInt64(number), source: source)
                ])
            }
            let found = try await server.rows(
                """
                SELECT count(*) AS roots, count(e.event_id) AS found,
                       bool_and(e.body->>'category' = v.payload->>'category' AND e.made_at = i.received_at) AS is_same
                FROM inputs i JOIN nag_events v ON v.family_id = i.family_id AND v.id = i.event_id
                LEFT JOIN enrichments e ON e.family_id = i.family_id AND e.event_id = i.event_id
                WHERE i.kind = 'excuse'
                """)
            #expect(found == [["roots": 9, "found": 9, "is_same": true]])
        }
    }

    @Test("a later classification by a device is attached to the root once, and is in the feed at once")
    func enrichment() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let note = scene.item(.note(text: "The bus was late"), id: 1, source: .dictation)
            let root = try #require(try await scene.upload([note])[0].eventID)
            let finding = scene.item(
                .classification(of: note.clientID, category: .timeConflict), id: 2, source: .dictation)
            let first = try await server.expectOnly(audit: ["input.enriched"], events: ["input_enriched"], stamped: 0) {
                try await scene.upload([finding])
            }
            #expect(first == [InputResult(clientID: finding.clientID, outcome: .applied, eventID: root, error: nil)])
            let page = try await server.call(
                API.syncEvents, SyncQuery(familyID: scene.home.id), as: scene.home.guardian)
            #expect(
                page.nagEvents.last?.payload
                    == ["of": root.description, "kind": "classification", "category": "time_conflict"])
            #expect(try await server.expectOnly { try await scene.upload([finding]) } == first)
            let other = scene.item(.classification(of: note.clientID, category: .other), id: 3)
            let second = try await server.expectOnly { try await scene.upload([other]) }
            #expect(second.map(\.outcome) == [.alreadyDone])
            #expect(try await scene.inputs() == (1, 1))
        }
    }

    @Test("an excuse is classified already, and nobody classifies another's input or a missing one")
    func refusedEnrichment() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let elsewhere = try await server.nag(from: scene.home.guardian, to: scene.home.child, in: scene.home.id)
            let excuse = scene.item(.excuse(text: "I was busy", category: nil), id: 1)
            _ = try await scene.upload([excuse])
            let finding = InputAct.classification(of: excuse.clientID, category: .refused)
            func told(_ item: OutboxItem, as person: TestPerson? = nil) async throws -> InputResult {
                try await server.expectOnly { try await scene.upload([item], as: person) }[0]
            }
            #expect(try await told(scene.item(finding, id: 2)).outcome == .alreadyDone)
            for (item, person) in [
                (scene.item(finding, id: 3), scene.home.guardian),
                (scene.item(finding, on: elsewhere, id: 4), scene.home.child),
                (
                    scene.item(.classification(of: InputID(high: 1, low: 1), category: .other), id: 5),
                    scene.home.child
                ),
            ] {
                let result = try await told(item, as: person)
                #expect(result.outcome == .refused && result.error?.code == .notFound)
            }
            try await server.sql("UPDATE consents SET revoked_at = \(server.clock.now())")
            let denied = try await told(scene.item(finding, id: 6))
            #expect(denied.outcome == .refused && denied.error?.code == .authorizationDenied)
        }
    }

    @Test("of twelve classifications at once one is stored, and two different ones never both")
    func concurrentEnrichment() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let note = scene.item(.note(text: "n"), id: 1)
            _ = try await scene.upload([note])
            let results = try await server.expectOnly(
                audit: ["input.enriched"], events: ["input_enriched"], stamped: 0
            ) {
                try await together(12) { number in
                    let category: ExcuseCategory = number.isMultiple(of: 2) ? .forgot : .refused
                    return try await scene.upload([
                        scene.item(.classification(of: note.clientID, category: category), id: UInt64(2 + number))
                    ])[0].outcome
                }
            }
            #expect(results.count { $0 == .applied } == 6 && results.count { $0 == .alreadyDone } == 6)
            let rows = try await server.rows("SELECT event_id FROM enrichments")
            #expect(rows.count == 1)
            #expect(try await scene.inputs() == (1, 1))
        }
    }
}
