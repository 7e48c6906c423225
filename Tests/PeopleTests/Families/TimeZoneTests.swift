import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("A family's time zone")
struct TimeZoneTests {
    @Test("a new family's time zone is New York unless it names another")
    func create() async throws {
        try await TestServer.run { server in
            func create(_ name: String, _ zone: String?) async throws -> FamilyResponse {
                try await server.call(
                    API.createFamily, FamilyCreate(name: "The Nells", timeZone: zone),
                    as: try await server.account(name))
            }
            let families = [try await create("Nell", nil), try await create("Nora", "Europe/Berlin")]
            #expect(families.map(\.timeZone) == ["America/New_York", "Europe/Berlin"])
        }
    }

    @Test(
        "an unknown time zone is refused for a family",
        arguments: ["Mars/Olympus", "EST", "+02:00", "../etc/passwd", "Europe/"])
    func unknown(zone: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            try await server.expectOnly {
                try await server.expect(.refusal(.validationFailed, "time_zone")) {
                    try await server.call(API.createFamily, FamilyCreate(name: "N", timeZone: zone), as: nell)
                }
                try await server.expect(.refusal(.validationFailed, "time_zone")) {
                    try await server.call(
                        API.updateFamily, FamilyPath(familyID: family.id), FamilyUpdate(timeZone: zone),
                        as: family.guardian)
                }
            }
        }
    }

    @Test("guardians change a family's time zone, with an entry, and only a real change is one")
    func update() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let path = FamilyPath(familyID: family.id)
            let change = FamilyUpdate(name: "The New Tests", timeZone: "Europe/Berlin")
            for person in [family.participant, family.child] {
                let error = try await server.expectOnly(audit: ["family.change.denied"]) {
                    try await expectRefusal(403) { try await server.call(API.updateFamily, path, change, as: person) }
                }
                #expect(error.reason == Denial.guardianOnly.rawValue)
            }
            let changed = try await server.expectOnly(audit: ["family.changed"]) {
                try await server.call(API.updateFamily, path, change, as: family.secondGuardian)
            }
            #expect(changed.name == "The New Tests" && changed.timeZone == "Europe/Berlin")
            #expect(changed.inviteCode == family.inviteCode)
            #expect(try await server.call(API.getFamily, path, as: family.guardian) == changed)
            let entry = try await server.audit(family.id).last
            #expect(entry?.details == ["fields": "name,time_zone", "time_zone": "Europe/Berlin"])
            try await server.expectOnly {
                for same in [change, FamilyUpdate(), FamilyUpdate(name: "The New Tests")] {
                    let answer = try await server.call(API.updateFamily, path, same, as: family.guardian)
                    #expect(answer == changed)
                }
            }
            let child = try await server.call(API.getFamily, path, as: family.child)
            #expect(child.timeZone == "Europe/Berlin" && child.inviteCode.isEmpty)
        }
    }

    @Test("several changes of a time zone at once each leave an entry, and the last one stays")
    func atOnce() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let zones = ["Europe/Berlin", "Asia/Tokyo", "America/Denver", "Africa/Lagos"]
            _ = try await server.expectOnly(audit: zones.map { _ in "family.changed" }) {
                try await together(zones.count) { number in
                    try await server.call(
                        API.updateFamily, FamilyPath(familyID: family.id), FamilyUpdate(timeZone: zones[number]),
                        as: family.guardian)
                }
            }
            let changes = try await server.audit(family.id).filter { $0.kind == "family.changed" }
            #expect(changes.compactMap { $0.details["time_zone"] }.sorted() == zones.sorted(), "an entry for each")
            let last = changes.last?.details["time_zone"]
            let kept = try await server.call(API.getFamily, FamilyPath(familyID: family.id), as: family.child)
            #expect(last != nil && kept.timeZone == last)
        }
    }

    // MARK: What goes by it

    /// A family in New York, and what moves it to Berlin.
    private func moving(
        _ body: @Sendable (TestServer, AIScene, _ move: @Sendable () async throws -> Void) async throws -> Void
    ) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(
                server, consents: [.aiMediation, .gamificationParticipation, .childAccountCreation])
            try await body(server, scene) {
                _ = try await server.call(
                    API.updateFamily, FamilyPath(familyID: scene.home.id), FamilyUpdate(timeZone: "Europe/Berlin"),
                    as: scene.home.guardian)
            }
        }
    }

    @Test("the daily cap, snoozes and notes count by the family's day")
    func day() async throws {
        try await moving { server, scene, move in
            let home = scene.home
            try await server.sql("UPDATE policies SET daily_cap = 1")
            try await server.sql("UPDATE child_settings SET max_snoozes_per_day = 1")
            let nag = try await server.nag(from: home.participant, to: home.child, due: .hours(72))
            func snooze() async throws {
                let due = try await server.call(API.getNag, NagPath(nagID: nag.id), as: home.child).dueAt
                _ = try await server.call(
                    API.updateNag, NagPath(nagID: nag.id), NagUpdate(dueAt: due + .minutes(10)), as: home.child)
            }
            func notes(_ ids: Range<UInt64>) async throws -> [InputOutcome] {
                let items = ids.map {
                    OutboxItem(
                        clientID: InputID(high: 0x0e, low: $0), nagID: nag.id, act: .note(text: "\($0)"),
                        madeAt: server.clock.now())
                }
                let upload = OutboxUpload(familyID: home.id, items: items)
                return try await server.call(API.uploadEvents, upload, as: home.child).results.map(\.outcome)
            }
            try await snooze()
            #expect(try await notes(0..<50).allSatisfy { $0 == .applied })
            // 19:30 of the same day in New York, and half past midnight of the next in Berlin.
            server.clock.advance(by: .minutes(8 * 60 + 30))
            try await expectRefusal(403) { try await server.nag(from: home.participant, to: home.child) }
            try await expectRefusal(403) { try await snooze() }
            #expect(try await notes(100..<101) == [.refused])
            try await move()
            // For 24 hours another midnight gives nobody more.
            try await expectRefusal(403) { try await server.nag(from: home.participant, to: home.child) }
            try await expectRefusal(403) { try await snooze() }
            #expect(try await notes(101..<102) == [.refused])
            server.clock.advance(by: .hours(24))
            _ = try await server.nag(from: home.participant, to: home.child)
            try await snooze()
            #expect(try await notes(102..<103) == [.applied])
            // In New York a day has begun since, in Berlin none.
            server.clock.advance(by: .hours(23))
            try await expectRefusal(403) { try await server.nag(from: home.participant, to: home.child) }
            server.clock.advance(by: .hours(1))
            _ = try await server.nag(from: home.participant, to: home.child)
        }
    }

    @Test("the leaderboard and the weekly report use the family's week")
    func week() async throws {
        try await moving { server, scene, move in
            let home = scene.home
            try await server.enableGamification(home.guardian)
            func starts() async throws -> Set<String> {
                let query = FamilyQuery(familyID: home.id)
                let board = try await server.call(API.getLeaderboard, query, as: home.guardian)
                let report = try await server.call(API.getWeeklyReport, query, as: home.guardian)
                return [board.periodStart.rfc3339, report.periodStart.rfc3339]
            }
            #expect(try await starts() == ["2026-03-09T04:00:00.000Z"])
            try await move()
            #expect(try await starts() == ["2026-03-08T23:00:00.000Z"])
        }
    }

    @Test("patterns use the family's weekdays")
    func weekdays() async throws {
        try await moving { server, scene, move in
            let home = scene.home
            // Late on three Mondays in New York, early on Tuesdays in Berlin.
            for week in 1...3 {
                let monday = server.clock.now() + .hours(12) - .days(Int64(7 * week + 1))
                try await scene.add([PatternFacts.Miss(dueAt: monday, missedAt: monday + .hours(24))], of: home.child)
            }
            func weekdays() async throws -> [Weekday] {
                try await server.call(
                    API.detectPatterns, UserInFamilyQuery(userID: home.child.id, familyID: home.id), as: home.guardian
                ).insights.map(\.dayOfWeek)
            }
            let before = try await weekdays()
            try await move()
            let after = try await weekdays()
            #expect(!before.isEmpty && !after.isEmpty && before != after)
        }
    }

    @Test("quiet hours use the family's time zone unless the person has one of their own")
    func quietHours() async throws {
        try await moving { server, scene, move in
            // It is 11:00 in New York and 16:00 in Berlin.
            let quiet = #""quiet_hours_enabled": true, "quiet_hours_start": "15:00", "quiet_hours_end": "17:00""#
            try await scene.setPolicy(maxPushBack: 3, cooldownMinutes: 15)
            try await scene.prefer("{\(quiet)}", scene.home.child)
            #expect(try await scene.pushBack().reason == PushBackDecisionReason.boundedPushBack.rawValue)
            try await move()
            #expect(try await scene.pushBack().reason == PushBackDecisionReason.quietHours.rawValue)
            try await scene.prefer(#"{\#(quiet), "timezone": "America/New_York"}"#, scene.home.child)
            #expect(try await scene.pushBack().reason != PushBackDecisionReason.quietHours.rawValue)
        }
    }

    @Test("a series keeps the family's clock")
    func series() async throws {
        try await moving { server, scene, move in
            let home = scene.home
            func next(after nag: NagID) async throws -> NagResponse? {
                _ = try await server.complete(nag, as: home.child)
                return try await server.call(API.listNags, NagListQuery(status: .open), as: home.guardian)
                    .items.first { $0.parentNagID == nag }
            }
            // Clocks go forward in Berlin on 29 March, and went forward in New York on the 8th.
            server.clock.advance(by: .days(18))
            let first = try await server.nag(from: home.guardian, to: home.child, every: .daily)
            let second = try await next(after: first.id)
            #expect(second?.dueAt == first.dueAt + .days(1))
            try await move()
            server.clock.advance(by: .hours(1))
            let other = try await server.nag(from: home.participant, to: home.child, every: .daily)
            let following = try await next(after: other.id)
            #expect(following?.dueAt == other.dueAt + .hours(23))
        }
    }

    @Test("devices and preferences have the family's time zone")
    func facts() async throws {
        try await moving { server, scene, move in
            let home = scene.home
            try await scene.prefer(#"{"timezone": "Asia/Tokyo"}"#, home.participant)
            func facts() async throws -> FamilyFacts? {
                try await server.call(
                    API.syncEvents, SyncQuery(familyID: home.id, cursor: "start", includesFacts: true),
                    as: home.guardian
                ).facts
            }
            func zone(_ person: TestPerson) async throws -> JSONValue? {
                try await server.call(API.getPreferences, FamilyQuery(familyID: home.id), as: person)
                    .preferences["timezone"]
            }
            #expect(try await facts()?.timeZone == "America/New_York")
            #expect(try await zone(home.child) == "America/New_York")
            try await move()
            let after = try await facts()
            #expect(after?.timeZone == "Europe/Berlin")
            #expect(after?.members.first { $0.userID == home.child.id }?.timeZone == "Europe/Berlin")
            #expect(after?.members.first { $0.userID == home.participant.id }?.timeZone == "Asia/Tokyo")
            #expect(try await zone(home.child) == "Europe/Berlin")
            #expect(try await zone(home.participant) == "Asia/Tokyo")
        }
    }
}
