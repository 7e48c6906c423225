import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Effects of incentive rules")
struct IncentiveEffectTests {
    @Test("every second completion brings points in its own act, whatever the multiplier is")
    func points() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            try await server.change(
                try await server.policyID(family.id), ["points_multiplier": 3.0], as: family.guardian)
            let rule = try await server.rule(.nagCompleted, 2, .bonusPoints, 50, in: family)
            #expect(try await server.earn(family.child, in: family) == [])
            #expect(try await server.points(of: family.child, in: family).totalPoints == 30)
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.expectOnly(
                audit: ["nag.completed"], events: ["nag_completed"], scores: ["nag_completed", "bonus_points"],
                stamped: 1
            ) { _ = try await together(8) { _ in try await server.complete(nag.id, as: family.child) } }
            let events = try await server.incentives(nag.id, as: family.secondGuardian)
            let event = try #require(events.first)
            #expect(events.count == 1 && event.ruleID == rule.id && event.ruleVersion == 1)
            #expect(event.userID == family.child.id && event.actionType == .bonusPoints && event.amount == 50)
            #expect(event.approvedBy == nil && event.appliedAt == event.at && event.at == server.clock.now())
            let summary = try await server.points(of: family.child, in: family)
            #expect(summary.totalPoints == 110 && summary.currentStreak == 2 && summary.eventCount == 3)
            let entry = try #require(try await server.audit(family.id).last { $0.kind == "nag.completed" })
            #expect(entry.details["points"] == "30" && entry.subject == family.child.pseudonym)
            #expect(
                entry.details["incentive_1"]
                    == "\(event.id) \(rule.id) 1 nag_completed 2 bonus_points 50 auto")
            let feed = try await server.call(
                API.listGamificationEvents, GamificationEventsQuery(userID: family.child.id, familyID: family.id),
                as: family.child)
            let bonus = feed.items.first { $0.eventType == "bonus_points" }
            #expect(bonus?.id == event.id.retyped() && bonus?.deltaPoints == 50 && bonus?.streakDelta == 0)
        }
    }

    @Test("a streak counts when it is reached, and again after a miss; a late completion reaches nothing")
    func streak() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            try await server.rule(.streakReached, 2, .bonusPoints, 7, in: family)
            var reached: [Int] = []
            for _ in 0..<3 { reached.append(try await server.earn(family.child, in: family).count) }
            let late = try await server.nag(from: family.guardian, to: family.child)
            server.clock.advance(by: .hours(3))
            _ = try await server.complete(late.id, as: family.child)
            reached.append(try await server.incentives(late.id, as: family.guardian).count)
            let missed = try await server.nag(from: family.guardian, to: family.child)
            server.clock.advance(by: .hours(27))
            try await server.call(
                "POST", "/api/v1/nags/\(missed.id)/escalation/recompute", as: family.guardian)
            #expect(try await server.points(of: family.child, in: family).currentStreak == 0)
            for _ in 0..<3 { reached.append(try await server.earn(family.child, in: family).count) }
            #expect(reached == [0, 1, 0, 0, 0, 1, 0])
        }
    }

    @Test("a rule gives its badge once to a person")
    func badge() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            try await server.rule(.nagCompleted, 1, .badge, 1_000, in: family)
            try await server.rule(.streakReached, 1, .badge, 1, in: family)
            #expect(try await server.earn(family.child, in: family).count == 2)
            #expect(try await server.earn(family.child, in: family) == [])
            let badges = try await server.call(
                API.listBadges, UserInFamilyQuery(userID: family.child.id, familyID: family.id), as: family.child)
            // Clients know no badge of the family's: they show the event.
            #expect(Set(badges.map(\.badgeType)).isSubset(of: BadgeType.clientBadges))
            #expect(try await server.rows("SELECT id FROM badges WHERE badge_type = 'family_award'").count == 1)
            let events = try await server.call(
                API.listGamificationEvents, GamificationEventsQuery(userID: family.child.id, familyID: family.id),
                as: family.child)
            #expect(events.items.filter { $0.eventType == "family_reward" }.count == 2)
            let summary = try await server.points(of: family.child, in: family)
            #expect(summary.totalPoints == 20 && summary.eventCount == 4)
        }
    }

    @Test("a rule takes effect in its newest version, and not while it is retired")
    func newest() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let rule = try await server.rule(.nagCompleted, 1, .bonusPoints, 5, in: family)
            let first = try await server.earn(family.child, in: family)
            try await server.change(
                rule.id, IncentiveRuleUpdate(action: IncentiveAction(type: .bonusPoints, amount: 6)),
                as: family.guardian)
            let second = try await server.earn(family.child, in: family)
            try await server.change(rule.id, IncentiveRuleUpdate(status: .retired), as: family.guardian)
            #expect(try await server.earn(family.child, in: family) == [])
            #expect(first.map(\.amount) == [5] && second.map(\.amount) == [6] && second.map(\.ruleVersion) == [2])
            #expect(try await server.incentives(first[0].nagID, as: family.guardian) == first, "its version is kept")
            #expect(try await server.points(of: family.child, in: family).totalPoints == 41)
        }
    }

    @Test("twenty rules at once take effect together")
    func many() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            for _ in 0..<20 { try await server.rule(in: family) }
            #expect(try await server.earn(family.child, in: family).count == 20)
            let summary = try await server.points(of: family.child, in: family)
            #expect(summary.totalPoints == 1_010 && summary.eventCount == 21)
        }
    }

    @Test("no rule takes effect without the consent or with the person's preference off", arguments: [true, false])
    func withoutConsent(isConsentMissing: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: isConsentMissing ? [] : [.gamificationParticipation])
            try await server.enableGamification(family.child, isConsentMissing)
            try await server.rule(in: family)
            try await server.rule(.nagCompleted, 1, .bonusPoints, 5, .guardianConfirmed, in: family)
            #expect(try await server.earn(family.child, in: family) == [])
            #expect(try await server.waiting(family) == [])
            let points = try await server.rows("SELECT delta_points FROM gamification_events")
            #expect(points == (isConsentMissing ? [] : [["delta_points": 0]]))
        }
    }

    @Test("another family's rules have no effect")
    func otherFamily() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            try await server.call(
                API.createIncentiveRule,
                IncentiveRuleCreate(
                    familyID: family.otherFamilyID, condition: IncentiveCondition(type: .nagCompleted, count: 1),
                    action: IncentiveAction(type: .bonusPoints, amount: 1_000)), as: family.stranger)
            #expect(try await server.earn(family.child, in: family) == [])
            try await expectRefusal(403) { try await server.rule(in: family, as: family.stranger) }
        }
    }
}
