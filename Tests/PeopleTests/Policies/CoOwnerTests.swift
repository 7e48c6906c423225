import Audit
import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Policies with two owners")
struct CoOwnerTests {
    /// A family whose policy both guardians own.
    private func shared(_ server: TestServer) async throws -> (family: Household, id: PolicyID) {
        let family = try await server.family()
        let id = try await server.policyID(family.id)
        let policy = try await server.change(
            id, owners: [family.guardian, family.secondGuardian], as: family.guardian)
        #expect(Set(policy.owners) == [family.guardian.id, family.secondGuardian.id])
        return (family, id)
    }

    @Test("a change waits until both owners approved it, and then takes effect in one act")
    func proposal() async throws {
        try await TestServer.run { server in
            let (family, id) = try await shared(server)
            let (one, other) = (family.guardian, family.secondGuardian)
            let answer = try await server.expectOnly(audit: ["policy.proposed"]) {
                try await server.change(id, ["daily_nag_cap": 3], as: one)
            }
            #expect(answer.constraints["daily_nag_cap"] == 8 && answer.version == 2, "the policy in force")
            let proposal = try #require(answer.proposal)
            #expect(proposal.constraints["daily_nag_cap"] == 3 && proposal.approvedBy == [one.id])
            #expect(proposal.proposedBy == one.id && proposal.owners == answer.owners)
            let seen = try await server.policy(family.id, as: other)
            #expect(seen == answer)
            // Proposing and approving it again is nothing new.
            let again = try await server.expectOnly {
                let own = try await server.approve(id, as: one)
                return (own.approverID, try await server.change(id, ["daily_nag_cap": 3], as: one))
            }
            #expect(again == (one.id, answer))
            let approval = try await server.expectOnly(audit: ["policy.changed"]) {
                try await server.approve(id, "Good idea", as: other, ifMatch: seen.etag)
            }
            #expect(approval.approverID == other.id && approval.policyID == id && approval.comment == "Good idea")
            let changed = try await server.policy(family.id, as: one)
            #expect(changed.constraints["daily_nag_cap"] == 3 && changed.version == 3 && changed.proposal == nil)
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.actor == other.pseudonym && entry.details["proposal"] == proposal.id.description)
            #expect(entry.details["old_daily_nag_cap"] == "8" && entry.details["version"] == "3")
            #expect(
                try await server.approvals(id, as: one).items.map(\.approverID).sorted() == [one.id, other.id].sorted())
        }
    }

    @Test("the same change by the other owner is an approval, and another change replaces the proposal")
    func disagreement() async throws {
        try await TestServer.run { server in
            let (family, id) = try await shared(server)
            let (one, other) = (family.guardian, family.secondGuardian)
            let first = try await server.change(id, ["daily_nag_cap": 3], as: one)
            let second = try await server.expectOnly(audit: ["policy.proposed"]) {
                try await server.change(id, ["daily_nag_cap": 4], as: other)
            }
            #expect(second.constraints["daily_nag_cap"] == 8 && second.proposal?.approvedBy == [other.id])
            // Who read the first proposal does not approve the second by it.
            try await server.expectOnly {
                try await expectRefusal(412) { try await server.approve(id, as: one, ifMatch: first.etag) }
            }
            let changed = try await server.expectOnly(audit: ["policy.changed"]) {
                try await server.change(id, ["daily_nag_cap": 4], as: one)
            }
            #expect(changed.constraints["daily_nag_cap"] == 4 && changed.proposal == nil)
        }
    }

    @Test("several approvals of both owners at once make one change")
    func atOnce() async throws {
        try await TestServer.run { server in
            let (family, id) = try await shared(server)
            let people = [family.guardian, family.secondGuardian]
            for (round, body) in [JSONObject](arrayLiteral: ["max_pushback": 1], ["max_pushback": 0]).enumerated() {
                if round == 0 { try await server.change(id, body, as: people[0]) }
                _ = try await together(8) { number in
                    let person = people[number % 2]
                    // The second round proposes the same at once.
                    if round == 0 { return try await server.approve(id, as: person).approverID }
                    return try await server.change(id, body, as: person).id.retyped()
                }
                let policy = try await server.policy(family.id, as: people[0])
                #expect(policy.constraints["max_pushback"] == (round == 0 ? 1 : 0) && policy.proposal == nil)
                #expect(policy.version == 3 + round)
            }
            #expect(try await server.audit(family.id).count { $0.kind == "policy.changed" } == 3)
        }
    }

    @Test("nobody but the two owners approves, and neither decides alone, not even about owners")
    func attackers() async throws {
        try await TestServer.run { server in
            let (family, id) = try await shared(server)
            let third = try await server.member("Tess", .guardian, of: family)
            try await server.change(id, owners: [family.guardian, third], as: family.guardian)
            #expect(
                try await Set(server.policy(family.id, as: third).owners)
                    == [family.guardian.id, family.secondGuardian.id])
            for person in [third, family.participant, family.child] {
                try await expectRefusal(403) { try await server.approve(id, as: person) }
                try await expectRefusal(403) { try await server.change(id, ["daily_nag_cap": 1], as: person) }
            }
            for person in [family.stranger, family.removed] {
                try await expectRefusal(404) { try await server.approve(id, as: person) }
            }
            #expect(try await server.policy(family.id, as: third).version == 2)
            try await server.approve(id, as: family.secondGuardian)
            let changed = try await server.policy(family.id, as: third)
            #expect(Set(changed.owners) == [family.guardian.id, third.id])
            // Who agreed to be no owner any more is none.
            try await expectRefusal(403) { try await server.approve(id, as: family.secondGuardian) }
            // Nobody left the family: an only owner by agreement decides alone.
            try await server.change(id, owners: [family.guardian], as: family.guardian)
            try await server.approve(id, as: third)
            let alone = try await server.change(id, ["max_pushback": 3], as: family.guardian)
            #expect(alone.owners == [family.guardian.id] && alone.constraints["max_pushback"] == 3)
        }
    }

    @Test("after one of two owners left, the other widens no limit until another guardian approved as co-owner")
    func departure() async throws {
        try await TestServer.run { server in
            let (family, id) = try await shared(server)
            let (one, other) = (family.guardian, family.secondGuardian)
            let third = try await server.member("Tess", .guardian, of: family)
            try await server.change(id, ["max_pushback": 3], as: other)
            _ = try await server.expectOnly(audit: ["member.left"]) {
                try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: other)
            }
            let left = try await server.policy(family.id, as: one)
            #expect(left.owners == [one.id] && left.proposal == nil && left.version == 2)
            try await expectRefusal(404) { try await server.approve(id, as: other) }

            let wider: [JSONObject] = [
                ["max_pushback": 3], ["points_multiplier": 1.1], ["max_snooze_minutes": 31],
                ["pushback_cooldown_minutes": 59], ["mood": "wild"], ["daily_nag_cap": 3, "max_pushback": 3],
            ]
            for constraints in wider {
                let refusal = try await expectRefusal(403) { try await server.change(id, constraints, as: one) }
                #expect(refusal.code == .policyForbidden && refusal.reason == "co_owner_needed")
            }
            try await expectRefusal(403) {
                try await server.change(id, ["max_pushback": 3], owners: [one, third], as: one)
            }
            let narrower = try await server.expectOnly(audit: ["policy.changed"]) {
                try await server.change(id, ["daily_nag_cap": 4, "pushback_cooldown_minutes": 90], as: one)
            }
            #expect(narrower.constraints["daily_nag_cap"] == 4 && narrower.version == 3)
            try await expectRefusal(403) { try await server.change(id, ["daily_nag_cap": 5], as: one) }

            let naming = try await server.expectOnly(audit: ["policy.proposed"]) {
                try await server.change(id, owners: [one, third], as: one)
            }
            #expect(naming.owners == [one.id] && naming.proposal?.owners == [one.id, third.id].sorted())
            try await expectRefusal(403) { try await server.change(id, ["daily_nag_cap": 5], as: one) }
            // The co-owner who is gone cannot be replaced by the first account at hand: the others have three days to object.
            let opening = server.clock.now() + .hours(72)
            server.clock.advance(by: .seconds(72 * 3_600 - 1))
            let early = try await server.expectOnly { try await refusal { try await server.approve(id, as: third) } }
            #expect(early.status == 409 && early.reason == "not_yet" && early.message.contains(opening.rfc3339))
            server.clock.advance(by: .seconds(1))
            try await server.expectOnly(audit: ["policy.changed"]) { try await server.approve(id, as: third) }
            #expect(try await server.policy(family.id, as: third).owners == [one.id, third.id].sorted())
            try await server.change(id, ["max_pushback": 3], as: one)
            try await server.approve(id, as: third)
            let wide = try await server.policy(family.id, as: one)
            #expect(wide.constraints["max_pushback"] == 3 && wide.version == 5)
        }
    }

    @Test("when an owner removed the other and proposes a new one, the removed one and the guardians are notified")
    func notices() async throws {
        try await TestServer.runWithMail { server, mails in
            let (family, id) = try await shared(server)
            let (one, other) = (family.guardian, family.secondGuardian)
            let third = try await server.member("Tess", .guardian, of: family)
            for (person, name) in [(one, "one"), (other, "other"), (third, "third")] {
                try await server.sql("UPDATE users SET email = \(name + "@example.org") WHERE id = \(person.id)")
            }
            _ = try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: other.id), as: one)
            try await server.sql("DELETE FROM deliveries")
            let back = try await server.anotherSession(of: other)
            for person in [one, back, third, family.participant] { try await server.registerDevice(as: person) }

            // A change of limits is none of theirs.
            try await server.change(id, ["daily_nag_cap": 4], as: one)
            #expect(try await server.deliveryRows().isEmpty)
            let path = "/api/v1/policies/\(id)"
            for _ in 0..<2 {
                let reply = try await server.call(
                    "PATCH", path, as: one,
                    body: ["owners": [.string(one.id.description), .string(third.id.description)]],
                    headers: ["Idempotency-Key": "once"])
                #expect(reply.status == 200)
            }
            let rows = try await server.rows("SELECT family_notice, user_id FROM deliveries")
            #expect(rows.allSatisfy { $0["family_notice"] == "co_owner_proposed" })
            #expect(rows.count == 2)
            #expect(
                Set(rows.compactMap { $0["user_id"]?.stringValue }) == [other.id.description, third.id.description])
            try await server.withWorker(DeliveryOptions()) { worker in try await worker.run() }
            #expect(
                try await server.rows("SELECT status FROM deliveries").allSatisfy { $0["status"] == "sent" })
            server.clock.advance(by: .hours(72))
            try await server.approve(id, as: third)
            #expect(
                try await server.rows("SELECT left_owner FROM policies WHERE id = \(id)")[0]["left_owner"] == .null)
            let sent = try await mails(2)
            #expect(sent.flatMap(\.to).sorted() == ["other@example.org", "third@example.org"])
            #expect(sent.allSatisfy { $0.text.contains("72 hours after the proposal") })
        }
    }

    @Test(
        "when an owner or a proposed one leaves in any way, the proposal is dropped, and no one new is an owner",
        arguments: ["removal", "account", "named"])
    func departureOfNamed(way: String) async throws {
        try await TestServer.run { server in
            let (family, id) = try await shared(server)
            let third = try await server.member("Tess", .guardian, of: family)
            try await server.change(id, ["daily_nag_cap": 3], owners: [family.guardian, third], as: family.guardian)
            let gone = way == "named" ? third : family.secondGuardian
            if way == "account" {
                _ = try await server.call(API.deleteAccount, AccountPath(userID: gone.id), as: gone)
            } else {
                let path = MemberPath(familyID: family.id, userID: gone.id)
                _ = try await server.call(API.removeMember, path, as: family.guardian)
            }
            let policy = try await server.policy(family.id, as: family.guardian)
            #expect(policy.proposal == nil && policy.constraints["daily_nag_cap"] == 8)
            #expect(policy.owners.count == (way == "named" ? 2 : 1))
            #expect(!policy.owners.contains(third.id))
        }
    }

    @Test("when an owner leaves during the other's approval, the change takes effect before it or not at all")
    func leavingMeanwhile() async throws {
        try await TestServer.run { server in
            let (family, id) = try await shared(server)
            try await server.change(id, ["daily_nag_cap": 3], as: family.guardian)
            let statuses = try await together(2) { number in
                if number == 0 {
                    return try await server.call(
                        "POST", "/api/v1/families/\(family.id)/leave", as: family.guardian
                    ).status
                }
                return try await server.call(
                    "POST", "/api/v1/policies/\(id)/approvals", as: family.secondGuardian
                ).status
            }
            #expect(statuses.sorted() == [200, 201])
            let kinds = try await server.audit(family.id).map(\.kind).suffix(2)
            let policy = try await server.policy(family.id, as: family.secondGuardian)
            #expect(policy.owners == [family.secondGuardian.id] && policy.proposal == nil)
            let isFirst = Array(kinds) == ["policy.changed", "member.left"]
            #expect(isFirst || Array(kinds) == ["member.left", "policy.approved"], "\(kinds)")
            #expect(policy.constraints["daily_nag_cap"] == (isFirst ? 3 : 8))
        }
    }
}
