import Audit
import Contract
import Domain
import JSON
import SQL
import Testing
import TimeZones

@testable import Server
@testable import ServerTestKit

/// A family whose child has a series.
private struct SeriesScene {
    let server: TestServer
    let family: Household

    init(_ server: TestServer) async throws {
        self.server = server
        family = try await server.family()
        try await server.enableGamification(family.child)
    }

    func series(every recurrence: Recurrence, due: Timestamp.Span = .hours(2)) async throws -> NagResponse {
        try await server.nag(from: family.guardian, to: family.child, due: due, every: recurrence)
    }

    func complete(_ nag: NagResponse) async throws -> NagResponse {
        try await server.complete(nag.id, as: family.child)
    }

    /// The instance after that one.
    func next(after nag: NagResponse) async throws -> NagResponse {
        let open = try await server.call(API.listNags, NagListQuery(status: .open), as: family.child).items
        return try #require(open.first { $0.parentNagID == nag.id })
    }

    func move(
        _ nag: NagResponse, to dueAt: Timestamp, _ scope: MoveScope = .this, as person: TestPerson? = nil
    ) async throws -> NagResponse {
        try await server.call(
            API.updateNag, NagPath(nagID: nag.id), NagUpdate(dueAt: dueAt, scope: scope),
            as: person ?? family.guardian)
    }

    func get(_ nag: NagResponse) async throws -> NagResponse {
        try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child)
    }

    var points: Int {
        get async throws {
            try await server.call(
                API.getGamificationSummary, FamilyQuery(familyID: family.id), as: family.child
            ).totalPoints
        }
    }
}

@Suite("Instances of a series")
struct SeriesTests {
    private static func run(_ body: @Sendable (TestServer, SeriesScene) async throws -> Void) async throws {
        try await TestServer.run { server in try await body(server, try await SeriesScene(server)) }
    }

    @Test("of 35 completions of a daily series in a row one counts, and the others are refused as too early")
    func inARow() async throws {
        try await Self.run { server, scene in
            let first = try await scene.series(every: .daily)
            _ = try await scene.complete(first)
            let next = try await scene.next(after: first)
            #expect(next.dueAt == first.dueAt + .days(1) && next.opensAt == first.dueAt)
            for _ in 0..<34 {
                try await server.expectOnly {
                    let refusal = try await refusal { try await scene.complete(next) }
                    #expect(refusal.status == 409 && refusal.code == .conflict)
                    #expect(refusal.reason == "not_yet" && refusal.opensAt == next.opensAt)
                }
            }
            #expect(try await scene.points == 10)
            #expect(try await server.rows("SELECT id FROM nags").count == 2)
            // It opens at that moment, and is on time.
            server.clock.set(to: first.dueAt - .seconds(1))
            #expect(try await refusal { try await scene.complete(next) }.reason == "not_yet")
            server.clock.set(to: first.dueAt)
            #expect(try await scene.complete(next).status == .completed)
            #expect(try await scene.points == 20)
        }
    }

    @Test("two quick completions of what is listed as open complete today's instance alone")
    func twoTaps() async throws {
        try await Self.run { server, scene in
            let first = try await scene.series(every: .daily)
            let outcomes = try await together(outcomesOf: 2) { _ in
                let open = try await server.call(
                    API.listNags, NagListQuery(status: .open), as: scene.family.child)
                return try await server.complete(open.items.first?.id ?? first.id, as: scene.family.child)
            }
            #expect(outcomes.contains { (try? $0.get())?.id == first.id })
            #expect(try await server.rows("SELECT id FROM nags WHERE status = 'completed'").count == 1)
        }
    }

    @Test("the refusal of an early completion names the opening in the family's time")
    func message() async throws {
        try await Self.run { server, scene in
            let zone = try #require(ZoneDatabase.system.zone("America/New_York"))
            let first = try await scene.series(every: .daily)
            _ = try await scene.complete(first)
            let next = try await scene.next(after: first)
            let reply = try await server.call(
                "POST", "/api/v1/nags/\(next.id)/status", as: scene.family.child, body: ["status": "completed"])
            let (date, time) = zone.local(first.dueAt)
            #expect(reply.status == 409)
            let error = try #require(reply.json?["error"])
            #expect(error["details"]?["reason"] == "not_yet")
            #expect(error["details"]?["opens_at"]?.stringValue.flatMap { Timestamp(rfc3339: $0) } == first.dueAt)
            #expect(error["message"]?.stringValue?.contains("from \(time.description.prefix(5)) on \(date)") == true)
        }
    }

    @Test(
        "an instance of a shorter interval opens an interval before its due time",
        arguments: [(Recurrence.every5Minutes, Timestamp.Span.minutes(5)), (.hourly, .hours(1))])
    func short(_ recurrence: Recurrence, _ interval: Timestamp.Span) async throws {
        try await Self.run { server, scene in
            let first = try await scene.series(every: recurrence)
            #expect(first.opensAt == first.dueAt - interval)
            #expect(try await refusal { try await scene.complete(first) }.opensAt == first.opensAt)
            server.clock.set(to: first.dueAt - interval)
            _ = try await scene.complete(first)
            let second = try await scene.next(after: first)
            #expect(second.opensAt == first.dueAt)
            #expect(try await refusal { try await scene.complete(second) }.reason == "not_yet")
        }
    }

    @Test("a nag without recurrence is open from the beginning")
    func once() async throws {
        try await Self.run { server, scene in
            let nag = try await server.nag(from: scene.family.guardian, to: scene.family.child, due: .days(20))
            #expect(nag.opensAt == nil)
            #expect(try await scene.complete(nag).status == .completed)
        }
    }

    @Test(
        "the feed has the opening, and an early completion in an outbox is a conflict that names it, also repeated")
    func outbox() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let first = try await server.nag(from: scene.home.guardian, to: scene.home.child, every: .daily)
            _ = try await server.complete(first.id, as: scene.home.child)
            let feed = try await server.call(API.syncEvents, SyncQuery(familyID: scene.home.id), as: scene.home.child)
            let next = try #require(feed.nags.first { $0.dueAt == first.dueAt + .days(1) })
            #expect(next.opensAt == first.dueAt && feed.nags.first { $0.id == scene.nag }?.opensAt == nil)
            let item = scene.item(.status(.completed, note: nil), on: next.id)
            for _ in 0..<2 {
                let result = try #require(try await scene.upload([item]).first)
                #expect(result.outcome == .conflict && result.eventID == nil)
                #expect(result.error?.code == .conflict && result.error?.reason == "not_yet")
                #expect(result.error?.opensAt == first.dueAt)
            }
            server.clock.set(to: first.dueAt)
            let later = scene.item(.status(.completed, note: nil), on: next.id, id: 2)
            #expect(try await scene.upload([later]).map(\.outcome) == [.applied])
        }
    }

    @Test("an instance of a connection's series opens at the previous due time too")
    func connection() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            let nag = try await scene.nag(from: scene.friend, to: scene.parent, every: .daily)
            _ = try await server.complete(nag.id, as: scene.parent)
            let open = try await server.call(API.listNags, NagListQuery(status: .open), as: scene.parent).items
            let next = try #require(open.first { $0.parentNagID == nag.id })
            #expect(next.opensAt == nag.dueAt)
            #expect(try await refusal { try await server.complete(next.id, as: scene.parent) }.opensAt == nag.dueAt)
        }
    }

    @Test("a rule for every second completion rewards every second day of a daily series")
    func incentives() async throws {
        try await Self.run { server, scene in
            try await server.rule(.nagCompleted, 2, .bonusPoints, 50, in: scene.family)
            var nag = try await scene.series(every: .daily)
            for day in 1...4 {
                _ = try await scene.complete(nag)
                let next = try await scene.next(after: nag)
                #expect(try await refusal { try await scene.complete(next) }.reason == "not_yet")
                #expect(try await scene.points == 10 * day + 50 * (day / 2))
                server.clock.advance(by: .days(1))
                nag = next
            }
        }
    }

    // MARK: What counts by the due day

    @Test("an instance done on Sunday and due on Monday gives points of the next week")
    func leaderboard() async throws {
        try await Self.run { server, scene in
            let zone = try #require(ZoneDatabase.system.zone("America/New_York"))
            let monday = zone.week(containing: server.clock.now()).upperBound
            server.clock.set(to: monday - .hours(4))
            let first = try await scene.series(every: .daily, due: .hours(1))
            server.clock.set(to: first.dueAt)
            _ = try await scene.complete(first)
            _ = try await scene.complete(try await scene.next(after: first))
            func board() async throws -> Int? {
                try await server.call(
                    API.getLeaderboard, FamilyQuery(familyID: scene.family.id), as: scene.family.child
                ).entries.first { $0.userID == scene.family.child.id }?.totalPoints
            }
            #expect(try await board() == 10)
            server.clock.set(to: monday + .hours(1))
            #expect(try await board() == 10)
            #expect(try await scene.points == 20)
        }
    }

    @Test("a late miss does not reset the streak of instances that were due after it")
    func streak() async throws {
        try await Self.run { server, scene in
            func streak() async throws -> Int {
                try await server.call(
                    API.getGamificationSummary, FamilyQuery(familyID: scene.family.id), as: scene.family.child
                ).currentStreak
            }
            let single = try await server.nag(from: scene.family.guardian, to: scene.family.child)
            _ = try await scene.complete(single)
            let first = try await scene.series(every: .daily)
            try await server.withScheduler { rounds in
                server.clock.set(to: first.dueAt + .minutes(1))
                try await rounds.run()
                let second = try await scene.next(after: first)
                server.clock.set(to: first.dueAt + .hours(3))
                _ = try await scene.complete(second)
                #expect(try await streak() == 2)
                server.clock.set(to: first.dueAt + .hours(24))
                try await rounds.run()
                #expect(try await scene.get(first).status == .missed)
            }
            #expect(try await streak() == 1)
        }
    }

    // MARK: Moving

    @Test("a moved instance moves alone, and with the scope of the series those after it move too")
    func moved() async throws {
        try await Self.run { server, scene in
            let first = try await scene.series(every: .daily)
            let moved = try await scene.move(first, to: first.dueAt + .hours(3))
            #expect(moved.opensAt == first.dueAt + .hours(3) - .days(1))
            _ = try await scene.complete(first)
            let second = try await scene.next(after: first)
            #expect(second.dueAt == first.dueAt + .days(1) && second.opensAt == first.dueAt)
            let pattern = try await server.expectOnly(audit: ["nag.updated"], events: ["nag_updated"], stamped: 1) {
                try await scene.move(second, to: second.dueAt + .hours(1), .series)
            }
            #expect(try await server.audit(scene.family.id).last?.details["scope"] == "series")
            server.clock.set(to: pattern.dueAt)
            _ = try await scene.complete(pattern)
            let third = try await scene.next(after: pattern)
            #expect(third.dueAt == pattern.dueAt + .days(1))
        }
    }

    @Test("an instance that is moved forward and completed does not return at its original time")
    func earlier() async throws {
        try await Self.run { server, scene in
            let first = try await scene.series(every: .weekly)
            _ = try await scene.complete(first)
            let second = try await scene.next(after: first)
            let moved = try await scene.move(second, to: first.dueAt + .days(2))
            #expect(moved.opensAt == first.dueAt)
            server.clock.set(to: moved.dueAt)
            _ = try await scene.complete(moved)
            #expect(try await scene.next(after: moved).dueAt == first.dueAt + .days(14))
        }
    }

    @Test("a snooze does not move the series or its short steps")
    func snooze() async throws {
        try await Self.run { server, scene in
            let first = try await scene.series(every: .hourly, due: .minutes(50))
            let snoozed = try await scene.move(first, to: first.dueAt + .minutes(20), as: scene.family.child)
            #expect(snoozed.dueAt == first.dueAt + .minutes(20))
            #expect(snoozed.opensAt == first.opensAt, "what was open stays open")
            _ = try await scene.complete(snoozed)
            let second = try await scene.next(after: first)
            #expect(second.dueAt == first.dueAt + .hours(1))
            #expect(second.opensAt == first.dueAt + .minutes(20), "the due time of the one before it, as it was moved")
        }
    }

    @Test("moving an overdue instance moves the opening of the next one, also in the feed")
    func neighbour() async throws {
        try await Self.run { server, scene in
            let first = try await scene.series(every: .weekly)
            try await server.withScheduler { rounds in
                server.clock.set(to: first.dueAt + .minutes(1))
                try await rounds.run()
            }
            let second = try await scene.next(after: first)
            #expect(second.opensAt == first.dueAt)
            _ = try await server.expectOnly(audit: ["nag.updated"], events: ["nag_updated"], stamped: 2) {
                try await scene.move(first, to: first.dueAt + .days(2))
            }
            #expect(try await scene.get(second).opensAt == first.dueAt + .days(2))
            let refused = try await refusal { try await scene.move(first, to: first.dueAt + .days(1), .series) }
            #expect(refused.status == 409 && refused.reason == "has_next_instance")
        }
    }

    @Test("the audit log explains moved instances, moved series and their effects on the next instance")
    func explained() async throws {
        try await TestServer.run { server in
            let family = try await LivedFamily(server)
            func nags() async throws -> [NagResponse] {
                try await server.call(API.listNags, NagListQuery(status: .open), as: family.child).items
                    .sorted { $0.dueAt < $1.dueAt }
            }
            func move(_ nag: NagResponse, by span: Timestamp.Span, _ scope: MoveScope) async throws {
                try await server.call(
                    API.updateNag, NagPath(nagID: nag.id), NagUpdate(dueAt: nag.dueAt + span, scope: scope),
                    as: family.guardian)
            }
            _ = try await family.nag(to: family.child, every: .weekly)
            try await server.withScheduler { rounds in
                server.clock.set(to: try await nags()[0].dueAt + .minutes(1))
                try await rounds.run()
                try await move(try await nags()[0], by: .days(2), .this)
                try await move(try await nags()[1], by: .hours(3), .series)
                let overdue = try await nags()[0]
                server.clock.set(to: overdue.dueAt)
                let snooze = NagUpdate(dueAt: overdue.dueAt + .minutes(10))
                try await server.call(API.updateNag, NagPath(nagID: overdue.id), snooze, as: family.child)
                server.clock.advance(by: .hours(1))
                _ = try await server.complete(try await nags()[1].id, as: family.child)
                server.clock.advance(by: .hours(24))
                try await rounds.run()
            }
            let statuses = try await server.rows("SELECT status FROM nags ORDER BY due_at").map { $0["status"] }
            #expect(statuses == ["missed", "completed", "open"])
            #expect(try await server.reconcile(family.id).findings.map(\.description) == [])
        }
    }

    @Test("an instance cannot be moved to before its opening, alone or with the series")
    func gathering() async throws {
        try await Self.run { server, scene in
            let person = scene.family.participant
            let first = try await server.nag(from: person, to: person, every: .daily)
            _ = try await server.complete(first.id, as: person)
            let open = try await server.call(API.listNags, NagListQuery(status: .open), as: person).items
            let second = try #require(open.first)
            for scope in MoveScope.allCases {
                let refused = try await refusal {
                    try await scene.move(second, to: server.clock.now() + .minutes(1), scope, as: person)
                }
                #expect(refused.status == 422 && refused.field == "due_at")
            }
            _ = try await scene.move(second, to: first.dueAt + .hours(12), as: person)
        }
    }

    @Test("creator and guardians alone move a series, and only of nags that repeat")
    func scope() async throws {
        try await Self.run { server, scene in
            let first = try await scene.series(every: .daily)
            try await server.expect(.refusal(.authorizationDenied)) {
                try await scene.move(first, to: first.dueAt + .minutes(10), .series, as: scene.family.child)
            }
            let single = try await server.nag(from: scene.family.guardian, to: scene.family.child)
            for update in [
                (single, NagUpdate(dueAt: single.dueAt + .hours(1), scope: .series)),
                (first, NagUpdate(scope: .series, category: .meds)),
            ] {
                try await server.expect(.refusal(.validationFailed, "scope")) {
                    try await server.call(
                        API.updateNag, NagPath(nagID: update.0.id), update.1, as: scene.family.guardian)
                }
            }
        }
    }
}
