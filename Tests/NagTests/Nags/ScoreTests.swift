import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Points, streaks and badges")
struct ScoreTests {
    private static func summary(_ person: TestPerson, _ family: Household, _ server: TestServer) async throws -> [Int] {
        let summary = try await server.call(
            API.getGamificationSummary, FamilyQuery(familyID: family.id), as: person)
        return [summary.totalPoints, summary.currentStreak, summary.eventCount]
    }

    @Test("a completion on time gives ten points and a longer streak, a late one four and the same streak")
    func points() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let first = try await server.nag(from: family.guardian, to: family.child)
            let late = try await server.nag(from: family.guardian, to: family.child, due: .minutes(1))
            let sharp = try await server.nag(from: family.guardian, to: family.child, due: .minutes(2))
            _ = try await server.complete(first.id, as: family.child)
            #expect(try await Self.summary(family.child, family, server) == [10, 1, 1])
            server.clock.advance(by: .minutes(2))
            _ = try await server.complete(late.id, as: family.child)
            #expect(try await Self.summary(family.child, family, server) == [14, 1, 2])
            // The due moment itself is on time.
            _ = try await server.complete(sharp.id, as: family.child)
            #expect(try await Self.summary(family.child, family, server) == [24, 2, 3])
            try await server.enableGamification(family.guardian)
            #expect(try await Self.summary(family.guardian, family, server) == [0, 0, 0])
            let page = try await server.call(
                API.listGamificationEvents, GamificationEventsQuery(userID: family.child.id), as: family.guardian)
            #expect(page.items.map(\.deltaPoints).reduce(0, +) == 24 && page.total == 3)
            #expect(page.items.map(\.at) == page.items.map(\.at).sorted(by: >))
            #expect(page.items.allSatisfy { $0.eventType == "nag_completed" && $0.familyID == family.id })
        }
    }

    @Test("points are multiplied by the family's multiplier", arguments: [(0.1, 1), (0.35, 4), (1.5, 15), (3.0, 30)])
    func multiplier(_ multiplier: Double, _ points: Int) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            try await server.sql("UPDATE policies SET points_multiplier = \(multiplier) WHERE family_id = \(family.id)")
            let nag = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(nag.id, as: family.child)
            #expect(try await Self.summary(family.child, family, server) == [points, 1, 1])
        }
    }

    enum Lack: CaseIterable { case preference, preferenceOff, oddPreference, consent, otherConsent }

    @Test(
        "without the consent nothing is counted, and without the person's preference the streak alone",
        arguments: Lack.allCases)
    func lacking(_ lack: Lack) async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: lack == .otherConsent ? [] : [.gamificationParticipation])
            switch lack {
            case .preference: break
            case .preferenceOff: try await server.enableGamification(family.child, false)
            case .oddPreference:
                try await server.enableGamification(family.child)
                let odd = SQLJSON(#"{"gamification_enabled": "true"}"#)
                try await server.sql("UPDATE preferences SET prefs = \(odd)")
            case .consent:
                try await server.enableGamification(family.child)
                try await server.revokeConsent(.gamificationParticipation)
            case .otherConsent:
                // A participant consents for themself alone.
                try await server.enableGamification(family.child)
                let id: ConsentID = server.random.identifier(at: server.clock.now())
                try await server.sql(
                    """
                    INSERT INTO consents (id, user_id, family_id, consent_type, granted_at)
                    VALUES (\(id), \(family.participant.id), \(family.id), 'gamification_participation', now())
                    """)
            }
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let hasStreak = lack != .consent && lack != .otherConsent
            try await server.expectOnly(
                audit: ["nag.completed"], events: ["nag_completed"], scores: hasStreak ? ["nag_completed"] : [],
                stamped: 1
            ) {
                try await server.complete(nag.id, as: family.child)
            }
            #expect(try await server.rows("SELECT id FROM badges").isEmpty)
            let totals = try await server.rows(
                "SELECT points, streak FROM member_totals WHERE user_id = \(family.child.id)")
            #expect(totals.map { $0["points"] } == (totals.isEmpty ? [] : [0]))
            #expect(totals.first?["streak"]?.integerValue ?? 0 == (hasStreak ? 1 : 0))
        }
    }

    @Test("a consent no longer counts once the guardian who gave it has left")
    func guardianGone() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let nag = try await server.nag(from: family.secondGuardian, to: family.child)
            try await server.sql(
                "UPDATE memberships SET status = 'removed', removed_at = now() WHERE user_id = \(family.guardian.id)")
            try await server.expectOnly(audit: ["nag.completed"], events: ["nag_completed"]) {
                try await server.complete(nag.id, as: family.child)
            }
        }
    }

    // MARK: Badges

    @Test("a badge is given once, with the completion that reaches it")
    func badges() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            func badges() async throws -> [BadgeType] {
                let query = UserInFamilyQuery(userID: family.child.id, familyID: family.id)
                return try await server.call(API.listBadges, query, as: family.guardian).map(\.badgeType)
            }
            var earned: [[BadgeType]] = []
            for _ in 0..<8 {
                let nag = try await server.nag(from: family.guardian, to: family.child)
                _ = try await server.complete(nag.id, as: family.child)
                earned.append(try await badges())
                server.clock.advance(by: .minutes(1))
            }
            let (first, three, seven): (BadgeType, BadgeType, BadgeType) = (.firstCompletion, .streak3, .streak7)
            #expect(
                earned == [
                    [first], [first], [first, three], [first, three], [first, three], [first, three],
                    [first, three, seven], [first, three, seven],
                ])
            let told = try await server.audit(family.id).compactMap { $0.details["badges"] }
            #expect(told == ["first_completion", "streak_3", "streak_7"])
        }
    }

    @Test(
        "thirty completions in a row and a hundred in all give their badges",
        arguments: [(29, 50, "streak_30"), (0, 99, "century_club")])
    func distant(_ streak: Int, _ completions: Int, _ badge: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let child = family.child.id
            // As many events as the sums say, long ago.
            try await server.sql(
                """
                INSERT INTO gamification_events
                    (family_id, id, user_id, event_type, delta_points, streak_delta, at, sync_seq, sync_ts)
                SELECT \(family.id), gen_random_uuid(), \(child), 'nag_completed', 0,
                       CASE WHEN n <= \(streak) THEN 1 ELSE 0 END, 'epoch', 1, 'epoch'
                FROM generate_series(1, \(completions)) n
                """)
            try await server.sql(
                """
                UPDATE member_totals SET streak = \(streak), completions = \(completions), events = \(completions)
                WHERE user_id = \(child)
                """)
            let nag = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(nag.id, as: family.child)
            let badges = try await server.rows("SELECT badge_type FROM badges").map { $0["badge_type"]?.stringValue }
            #expect(badges.contains(badge))
            // The rows made up here belong to no act.
            try await server.sql("DELETE FROM gamification_events WHERE sync_ts = 'epoch'")
            try await server.sql(
                """
                UPDATE member_totals SET streak = 1, completions = 1, events = 1 WHERE user_id = \(child)
                """)
        }
    }

    struct Week: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var nags = 3
        var late = 0
        var open = 0
        var withdrawn = 0
        let isPerfect: Bool
    }

    static let weeks: [Week] = [
        Week(testDescription: "three on time", isPerfect: true),
        Week(testDescription: "two are too few", nags: 2, isPerfect: false),
        Week(testDescription: "one late", nags: 4, late: 1, isPerfect: false),
        Week(testDescription: "one open", nags: 4, open: 1, isPerfect: false),
        Week(testDescription: "one withdrawn does not count", nags: 4, withdrawn: 1, isPerfect: true),
    ]

    @Test("a finished week with at least three nags, all on time, is perfect", arguments: weeks)
    func perfectWeek(_ week: Week) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            var nags: [NagID] = []
            for _ in 0..<week.nags { nags.append(try await server.nag(from: family.guardian, to: family.child).id) }
            for nag in nags.dropFirst(week.late + week.open + week.withdrawn) {
                _ = try await server.complete(nag, as: family.child)
            }
            for nag in nags.prefix(week.withdrawn) {
                try await server.call(API.withdrawNag, NagPath(nagID: nag), as: family.guardian)
            }
            server.clock.advance(by: .hours(3))
            for nag in nags.prefix(week.late) { _ = try await server.complete(nag, as: family.child) }
            func isPerfect() async throws -> Bool {
                try await !server.rows("SELECT id FROM badges WHERE badge_type = 'perfect_week'").isEmpty
            }
            #expect(try await !isPerfect())
            // It is judged once it is over, a fortnight later as well as at once.
            server.clock.advance(by: .days(14))
            let next = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(next.id, as: family.child)
            #expect(try await isPerfect() == week.isPerfect)
        }
    }

    @Test(
        "a perfect week is counted by the family's time zone",
        arguments: [("America/New_York", true), ("Europe/Berlin", false)])
    func weekOfTheFamily(_ zone: String, _ isPerfect: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            try await server.call(
                API.updateFamily, FamilyPath(familyID: family.id), FamilyUpdate(timeZone: zone), as: family.guardian)
            // From Tuesday 15:00 UTC on: twice the same day, and Sunday 23:30.
            for minutes: Int64 in [120, 180, 7_710] {
                let nag = try await server.nag(from: family.guardian, to: family.child, due: .minutes(minutes))
                _ = try await server.complete(nag.id, as: family.child)
            }
            server.clock.advance(by: .days(14))
            let next = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(next.id, as: family.child)
            let badges = try await server.rows("SELECT id FROM badges WHERE badge_type = 'perfect_week'")
            #expect(badges.isEmpty == !isPerfect)
        }
    }
}
