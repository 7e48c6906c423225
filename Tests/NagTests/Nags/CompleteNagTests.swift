import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing
import TimeZones

@testable import Server
@testable import ServerTestKit

@Suite("Completing nags")
struct CompleteNagTests {
    @Test("the recipient alone completes a nag, and a second completion changes nothing")
    func once() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            for person in [family.participant, family.guardian] {
                try await server.expectOnly(audit: ["nag.update_status.denied"]) {
                    try await server.expect(.refusal(.authorizationDenied)) {
                        try await server.complete(nag.id, as: person)
                    }
                }
            }
            try await server.expectOnly {
                try await server.expect(.refusal(.notFound)) { try await server.complete(nag.id, as: family.stranger) }
            }
            server.clock.advance(by: .minutes(1))
            let once = try await server.expectOnly(
                audit: ["nag.completed"], events: ["nag_completed"], scores: ["nag_completed"], stamped: 1
            ) {
                try await server.complete(nag.id, as: family.child, note: "All of it")
            }
            #expect(once.status == .completed && once.completedAt == server.clock.now())
            #expect(
                try await server.audit(family.id).last?.details == [
                    "points": "0", "streak_delta": "1", "punctuality": "on_time", "note_length": "9", "source": "text",
                ])
            server.clock.advance(by: .minutes(1))
            let twice = try await server.expectOnly { try await server.complete(nag.id, as: family.child) }
            #expect(twice == once)
        }
    }

    @Test("nobody can set another status than completed", arguments: NagStatus.allCases.filter { $0 != .completed })
    func otherStatus(_ status: NagStatus) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.expectOnly {
                try await server.expect(.refusal(.validationFailed, "status")) {
                    try await server.call(
                        API.updateNagStatus, NagPath(nagID: nag.id), NagStatusUpdate(status: status), as: family.child)
                }
            }
        }
    }

    @Test("a nag that asks for a note is completed without one as well", arguments: [nil, "", " \n ", "Pages 3 to 5"])
    func note(_ note: String?) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child, .homework, .binaryWithNote)
            var body: JSONObject = ["status": "completed"]
            body["note"] = note.map { .string($0) }
            let reply = try await server.call(
                "POST", "/api/v1/nags/\(nag.id)/status", as: family.child, body: .object(body))
            #expect(reply.status == 200 && reply.json?["status"] == "completed")
            let expectedNote = note?.count ?? 0 > 3 ? "Pages 3 to 5" : nil
            #expect(reply.json?["completion_note"] == expectedNote.map { .string($0) } ?? .null)
            for reader in [family.guardian, family.secondGuardian, family.child] {
                let read = try await server.call(API.getNag, NagPath(nagID: nag.id), as: reader)
                #expect(read.completionNote == expectedNote)
            }
            let page = try await server.call(API.listNags, NagListQuery(), as: family.guardian)
            #expect(page.items.map(\.completionNote) == [expectedNote])
        }
    }

    @Test("a missed nag cannot be completed")
    func missed() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.sql("UPDATE nags SET status = 'missed', closed_at = now()")
            try await server.expectOnly {
                try await server.expect(.refusal(.conflict)) { try await server.complete(nag.id, as: family.child) }
            }
        }
    }

    @Test("of twenty completions at once one has consequences, and all get the same answer")
    func concurrent() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let nag = try await server.nag(from: family.guardian, to: family.child, every: .daily)
            let outcomes = try await server.expectOnly(
                audit: ["nag.completed"], events: ["nag_completed", "nag_created"], scores: ["nag_completed"],
                stamped: 2
            ) { try await together(outcomesOf: 20) { _ in try await server.complete(nag.id, as: family.child) } }
            let answers = Set(try outcomes.map { try $0.get() })
            #expect(answers.count == 1 && answers.first?.status == .completed)
            #expect(try await server.rows("SELECT * FROM badges").count == 1)
        }
    }

    @Test("of a completion and a withdrawal at once one succeeds")
    func race() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for _ in 0..<5 {
                let nag = try await server.nag(from: family.guardian, to: family.child)
                let outcomes = try await together(outcomesOf: 2) { number in
                    number == 0
                        ? try await server.complete(nag.id, as: family.child)
                        : try await server.call(API.withdrawNag, NagPath(nagID: nag.id), as: family.guardian)
                }
                let won = outcomes.compactMap { try? $0.get() }
                #expect(won.count == 1)
                let after = try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child)
                #expect(after == won.first)
            }
        }
    }

    // MARK: Series

    static let recurrences: [(Recurrence, Timestamp.Span)] = [
        (.every5Minutes, .minutes(5)), (.every15Minutes, .minutes(15)), (.every30Minutes, .minutes(30)),
        (.hourly, .hours(1)), (.daily, .days(1)), (.weekly, .days(7)), (.monthly, .days(31)),
    ]

    @Test("a completion creates the next instance of a series", arguments: recurrences)
    func series(_ recurrence: Recurrence, _ step: Timestamp.Span) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let first = try await server.nag(
                from: family.guardian, to: family.child, due: min(step, .hours(2)), .meds, every: recurrence)
            server.clock.advance(by: .minutes(1))
            _ = try await server.expectOnly(
                audit: ["nag.completed"], events: ["nag_completed", "nag_created"], scores: ["nag_completed"],
                stamped: 2
            ) { try await server.complete(first.id, as: family.child) }
            let open = try await server.call(API.listNags, NagListQuery(status: .open), as: family.child).items
            let next = try #require(open.first)
            #expect(open.count == 1 && next.parentNagID == first.id && next.dueAt == first.dueAt + step)
            var wanted = first
            (wanted.id, wanted.parentNagID, wanted.dueAt) = (next.id, first.id, next.dueAt)
            (wanted.createdAt, wanted.source, wanted.opensAt) = (server.clock.now(), .system, first.dueAt)
            #expect(next == wanted)
            let made = try await server.rows("SELECT actor_id, source FROM nag_events WHERE nag_id = \(next.id)")
            #expect(made.count == 1 && made[0]["source"]?.stringValue == "system")
            let sources = try await server.rows("SELECT source FROM nags ORDER BY created_at")
            #expect(sources.map { $0["source"] } == ["text", "system"], "nobody typed the second one")
            #expect(made[0]["actor_id"]?.stringValue == SystemActor.scheduler.description)
            #expect(try await server.audit(family.id).last?.details["next_nag"] == next.id.description)
        }
    }

    @Test("a monthly nag of the 31st returns to it; a moved series has a new rhythm, and a snooze sets none")
    func anchor() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let zone = try #require(ZoneDatabase.system.zone("America/New_York"))
            func at(_ month: Int, _ day: Int, _ hour: Int = 9) throws -> Timestamp {
                let date = try #require(CivilDate(year: 2026, month: month, day: day))
                return zone.moment(date, try #require(TimeOfDay(hour: hour, minute: 0)))
            }
            var order = server.order(for: family.participant, in: family.id, every: .monthly)
            order.dueAt = try at(3, 31)
            var nag = try await server.call(API.createNag, order, as: family.guardian)
            func next() async throws -> NagResponse {
                _ = try await server.complete(nag.id, as: family.participant)
                return try await server.call(
                    API.listNags, NagListQuery(status: .open), as: family.participant
                ).items[0]
            }
            nag = try await next()
            #expect(try nag.dueAt == at(4, 30))
            server.clock.set(to: try at(4, 30, 8))
            let snooze = NagUpdate(dueAt: nag.dueAt + .minutes(20))
            try await server.call(API.updateNag, NagPath(nagID: nag.id), snooze, as: family.participant)
            nag = try await next()
            #expect(try nag.dueAt == at(5, 31))
            func move(to dueAt: Timestamp, _ scope: MoveScope) async throws {
                try await server.call(
                    API.updateNag, NagPath(nagID: nag.id), NagUpdate(dueAt: dueAt, scope: scope), as: family.guardian)
            }
            try await move(to: try at(5, 20, 18), .this)
            server.clock.set(to: try at(5, 20, 18))
            nag = try await next()
            #expect(try nag.dueAt == at(6, 30))
            try await move(to: try at(6, 20, 18), .series)
            server.clock.set(to: try at(6, 20, 18))
            nag = try await next()
            #expect(try nag.dueAt == at(7, 20, 18))
        }
    }

    @Test("a series ends when its two people may no longer nag each other, or when it is withdrawn")
    func seriesEnds() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child, every: .daily)
            try await server.call(API.suspendRelationship, try await Self.path(family, server), as: family.guardian)
            try await server.expectOnly(
                audit: ["nag.completed"], events: ["nag_completed"], scores: ["nag_completed"], stamped: 1
            ) {
                _ = try await server.complete(nag.id, as: family.child)
            }
            let other = try await server.nag(from: family.guardian, to: family.child, every: .daily)
            try await server.call(API.withdrawNag, NagPath(nagID: other.id), as: family.guardian)
            #expect(try await server.rows("SELECT id FROM nags WHERE status = 'open'").isEmpty)
        }
    }

    /// The relationship between participant and child.
    private static func path(_ family: Household, _ server: TestServer) async throws -> RelationshipPath {
        let (one, other) = (family.participant.id, family.child.id)
        let ids: [RelationshipID] = try await server.database.rows(
            "SELECT id FROM relationships WHERE \(one) IN (party_a, party_b) AND \(other) IN (party_a, party_b)"
        ) { try $0["id"] }
        return RelationshipPath(relationshipID: ids[0])
    }
}
