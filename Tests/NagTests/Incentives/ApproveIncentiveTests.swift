import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Approvals of what incentive rules give")
struct ApproveIncentiveTests {
    /// A family whose rule waits for a guardian, and the event of the person's completion.
    private func scene(
        _ server: TestServer, _ reward: IncentiveReward = .bonusPoints, for who: String = "child"
    ) async throws -> (family: Household, person: TestPerson, event: IncentiveEventResponse) {
        let family = try await server.family()
        let person = try #require(family.somebody(who))
        try await server.enableGamification(person)
        try await server.rule(.nagCompleted, 1, reward, 40, .guardianConfirmed, in: family)
        return (family, person, try #require(try await server.earn(person, in: family).first))
    }

    @Test("the first approval gives the points, and no other does, also at once")
    func once() async throws {
        try await TestServer.run { server in
            let (family, child, event) = try await scene(server)
            #expect(event.appliedAt == nil && event.approvedBy == nil)
            #expect(try await server.waiting(family) == [event])
            #expect(try await server.points(of: child, in: family).totalPoints == 10)
            server.clock.advance(by: .hours(1))
            try await server.expectOnly(audit: ["incentive.approved"], scores: ["bonus_points"]) {
                try await server.withPeers(1) { peers in
                    let answers = try await together(10) { number in
                        try await (number.isMultiple(of: 2) ? server : peers[0]).approve(
                            event.id, as: number < 5 ? family.guardian : family.secondGuardian)
                    }
                    #expect(Set(answers).count == 1)
                }
            }
            let approved = try await server.expectOnly { try await server.approve(event.id, as: family.guardian) }
            #expect(approved.appliedAt == server.clock.now() && approved.at == event.at)
            #expect([family.guardian.id, family.secondGuardian.id].contains(approved.approvedBy))
            #expect(try await server.waiting(family) == [])
            let summary = try await server.points(of: child, in: family)
            #expect(summary.totalPoints == 50 && summary.currentStreak == 1 && summary.eventCount == 2)
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.kind == "incentive.approved" && entry.resource == event.id.retyped())
            #expect(entry.subject == child.pseudonym && entry.details["nag"] == event.nagID.description)
            #expect(
                entry.details["incentive_1"]
                    == "\(event.id) \(event.ruleID) 1 nag_completed 1 bonus_points 40 guardian_confirmed")
        }
    }

    @Test("an approval gives what the rule's version promised, whatever the rule became")
    func version() async throws {
        try await TestServer.run { server in
            let (family, child, event) = try await scene(server)
            try await server.change(
                event.ruleID,
                IncentiveRuleUpdate(
                    action: IncentiveAction(type: .bonusPoints, amount: 1_000), approvalMode: .auto, status: .retired),
                as: family.guardian)
            #expect(try await server.approve(event.id, as: family.guardian).amount == 40)
            #expect(try await server.points(of: child, in: family).totalPoints == 50)
        }
    }

    @Test("two approved promises of the badge give one badge")
    func badge() async throws {
        try await TestServer.run { server in
            let (family, child, first) = try await scene(server, .badge)
            let second = try #require(try await server.earn(child, in: family).first)
            for event in [first, second] { try await server.approve(event.id, as: family.guardian) }
            #expect(try await server.earn(child, in: family) == [])
            #expect(try await server.rows("SELECT id FROM badges WHERE badge_type = 'family_award'").count == 1)
            #expect(try await server.points(of: child, in: family).totalPoints == 30)
        }
    }

    @Test("no guardian approves an incentive for themselves")
    func own() async throws {
        try await TestServer.run { server in
            let (family, guardian, event) = try await scene(server, for: "guardian")
            try await server.expectOnly(audit: ["incentive.approve.denied"]) {
                let refusal = try await expectRefusal(403) { try await server.approve(event.id, as: guardian) }
                #expect(refusal.code == .authorizationDenied && refusal.reason == "own_incentive")
            }
            #expect(
                try await server.approve(event.id, as: family.secondGuardian).approvedBy == family.secondGuardian.id)
        }
    }

    @Test("an approval is refused while the consent or the person's preference is missing, and the event waits")
    func rechecked() async throws {
        try await TestServer.run { server in
            let (family, child, event) = try await scene(server)
            try await server.enableGamification(child, false)
            try await server.expectOnly {
                let off = try await expectRefusal(403) { try await server.approve(event.id, as: family.guardian) }
                #expect(off.reason == ErrorReason.switchedOff)
            }
            try await server.enableGamification(child)
            try await server.revokeConsent(.gamificationParticipation)
            try await server.expectOnly {
                let none = try await expectRefusal(403) { try await server.approve(event.id, as: family.guardian) }
                #expect(none.reason == ErrorReason.consentMissing)
            }
            #expect(try await server.waiting(family) == [event])
            try await server.consent(.gamificationParticipation, in: family.id, as: family.guardian)
            #expect(try await server.approve(event.id, as: family.guardian).appliedAt == server.clock.now())
        }
    }

    @Test("nothing is given to somebody who left, and another family's guardian gets 404")
    func gone() async throws {
        try await TestServer.run { server in
            let (family, person, event) = try await scene(server, for: "participant")
            try await server.expectOnly {
                try await expectRefusal(404) { try await server.approve(event.id, as: family.stranger) }
                try await expectRefusal(404) {
                    try await server.approve(server.random.identifier(at: server.clock.now()), as: family.guardian)
                }
            }
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: person.id), as: family.guardian)
            try await server.expectOnly {
                let refusal = try await expectRefusal(409) { try await server.approve(event.id, as: family.guardian) }
                #expect(refusal.code == .conflict)
            }
        }
    }

    @Test("a person's export has what rules did for them, and nothing of others")
    func export() async throws {
        try await TestServer.run { server in
            let (family, child, event) = try await scene(server)
            try await server.enableGamification(family.participant)
            try await server.earn(family.participant, in: family)
            let export = try await server.call(API.exportAccount, as: child)
            let incentives = export.sections[.incentives, default: []]
            #expect(incentives.map { $0["id"]?.stringValue } == [event.id.description])
            #expect(incentives.first?["amount"] == 40 && incentives.first?["applied_at"] == .some(nil))
        }
    }
}
