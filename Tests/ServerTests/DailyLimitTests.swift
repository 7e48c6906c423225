import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// An act that is limited to so many a person and day.
private struct LimitedAct: Sendable, CustomTestStringConvertible {
    let limit: DailyLimit
    let kind: String
    /// What the request has instead of a JSON body.
    var form: [UInt8]?
    /// A request that does it, another one for each number.
    let request: @Sendable (_ family: Household, _ number: Int) -> (method: String, path: String, body: JSONValue?)

    var testDescription: String { limit.rawValue }

    static let all = [
        LimitedAct(limit: .deviceRegistrations, kind: "device.registered") { _, number in
            ("POST", "/api/v1/devices", ["platform": "ios", "token": .string("token \(number)")])
        },
        LimitedAct(limit: .accountExports, kind: "account.exported") { _, _ in ("GET", "/api/v1/accounts/export", nil)
        },
        LimitedAct(limit: .policyChanges, kind: "policy.changed") { family, number in
            ("PATCH", "/api/v1/policies/POLICY", ["constraints": ["mood": .integer(Int64(number))]])
        },
        LimitedAct(limit: .blockChanges, kind: "block.created") { family, number in
            let people = [family.participant, family.child, family.secondGuardian]
            return ("POST", "/api/v1/blocks", ["target_id": .string(people[number % 3].id.description)])
        },
        LimitedAct(limit: .preferenceChanges, kind: "preferences.changed") { family, number in
            (
                "PATCH", "/api/v1/preferences?family_id=\(family.id)",
                ["prefs_json": ["mood": .integer(Int64(number))]]
            )
        },
        LimitedAct(limit: .familyCodeRenewals, kind: "family_code.renewed") { family, _ in
            ("POST", "/api/v1/families/\(family.id)/codes/renew", ["code": "invite_code"])
        },
        LimitedAct(limit: .incentiveRuleChanges, kind: "incentive_rule.created") { family, _ in
            (
                "POST", "/api/v1/incentive-rules",
                [
                    "family_id": .string(family.id.description), "condition": ["type": "nag_completed", "count": 1],
                    "action": ["type": "badge", "amount": 1],
                ]
            )
        },
        LimitedAct(limit: .constraintChanges, kind: "ai_constraint.created") { family, _ in
            (
                "POST", "/api/v1/ai/constraints",
                [
                    "family_id": .string(family.id.description), "scope": "own", "name": "n", "type": "cost",
                    "priority": 1, "action": ["type": "force_local"],
                    "conditions": [["field": "token_count", "operator": "exceeds", "value": "1"]],
                ]
            )
        },
        LimitedAct(limit: .aiSessions, kind: "ai_session.begun") { family, _ in
            ("POST", "/api/v1/ai/sessions", ["family_id": .string(family.id.description)])
        },
        LimitedAct(limit: .draftSteps, kind: "draft.created") { family, _ in
            (
                "POST", "/api/v1/ai/drafts",
                ["family_id": .string(family.id.description), "kind": "suggested_nag", "text": "the dishes"]
            )
        },
        LimitedAct(limit: .attachments, kind: "attachment.added", form: PictureForm.form(PictureForm.jpeg())) { _, _ in
            ("POST", "/api/v1/attachments", nil)
        },
        LimitedAct(limit: .aiKeysStored, kind: "ai_key.set") { _, _ in
            (
                "PUT", "/api/v1/ai/keys/openai",
                [
                    "key": .string(TestServer.secret), "model": "m", "password": .string(TestServer.password),
                ]
            )
        },
        LimitedAct(limit: .emailChangeRequests, kind: "email_change.requested") { _, number in
            (
                "POST", "/api/v1/me/email",
                ["password": .string(TestServer.password), "email": .string("new\(number)@example.org")]
            )
        },
        LimitedAct(limit: .phoneCodeRequests, kind: "account.phone_requested") { _, number in
            (
                "POST", "/api/v1/me/phone",
                ["password": .string(TestServer.password), "phone": .string("+4930123456\(number)")]
            )
        },
    ]
}

@Suite("Daily limits of a person")
struct DailyLimitTests {
    @Test("every daily limit has a test")
    func complete() {
        #expect(Set(LimitedAct.all.map(\.limit)) == Set(DailyLimit.allCases))
    }

    @Test(
        "at a daily limit the last act succeeds, and the next is refused until the day is over",
        arguments: LimitedAct.all)
    private func limited(act: LimitedAct) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPasswords()
            let policy = try await server.policyID(family.id)
            @Sendable func send(_ number: Int, as person: TestPerson, on instance: TestServer) async throws -> Reply {
                let request = act.request(family, number)
                let path = request.path.split(separator: "POLICY", omittingEmptySubsequences: false)
                    .joined(separator: policy.description)
                if let form = act.form {
                    return try await instance.send(
                        request.method, path, token: instance.token(person), content: form)
                }
                return try await instance.call(request.method, path, as: person, body: request.body)
            }
            // All but one of the limit, by what the first one counts.
            let first = try await server.expectOnly(audit: [act.kind]) {
                try await send(0, as: family.guardian, on: server)
            }
            #expect((200...202).contains(first.status), "\(first.text)")
            try await server.sql("UPDATE daily_counts SET count = \(act.limit.perDay - 1)")
            server.clock.advance(by: .hours(1))
            try await server.expectOnly(audit: [act.kind]) {
                try await server.withPeers(1) { peers in
                    let statuses = try await together(2) { number in
                        try await send(number + 1, as: family.guardian, on: number == 0 ? server : peers[0]).status
                    }
                    #expect(statuses.contains(429) && statuses.contains { $0 < 300 }, "\(statuses)")
                }
            }
            // Whoever of the two was blocked: blocking them again would change nothing.
            try await server.sql("UPDATE blocks SET state = 'lifted'")
            let refused = try await server.expectOnly { try await send(5, as: family.guardian, on: server) }
            #expect(refused.status == 429 && refused.errorCode == "RATE_LIMITED")
            let seconds = refused.header("retry-after").flatMap { Int($0) } ?? 0
            #expect((82_700...82_800).contains(seconds), "\(seconds)")
            if act.limit != .policyChanges {
                #expect(try await send(6, as: family.secondGuardian, on: server).status < 300, "another person")
            }
            server.clock.advance(by: .hours(23))
            #expect(try await send(7, as: family.guardian, on: server).status < 300, "the next day")
            let count = try await server.rows(
                "SELECT count FROM daily_counts WHERE user_id = \(family.guardian.id) AND act = \(act.limit.rawValue)")
            #expect(count == [["count": 1]])
        }
    }

    @Test("an act that changes nothing does not count towards a daily limit")
    func unchanged() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.register("token", as: family.guardian)
            try await server.sql("UPDATE daily_counts SET count = \(DailyLimit.deviceRegistrations.perDay)")
            try await server.expectOnly { try await server.register("token", as: family.guardian) }
            try await expectRefusal(429) { try await server.register("other", as: family.guardian) }
        }
    }

    @Test("an approval counts as a change of a policy")
    func approvals() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let policy = try await server.policyID(family.id)
            try await server.change(policy, ["daily_nag_cap": 3], as: family.guardian)
            try await server.sql("UPDATE daily_counts SET count = \(DailyLimit.policyChanges.perDay)")
            try await server.expectOnly {
                let refusal = try await expectRefusal(429) { try await server.approve(policy, as: family.guardian) }
                #expect(refusal.code == .rateLimited && refusal.retryAfter == 86_400)
            }
        }
    }

    @Test("counts of past days are deleted")
    func swept() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.register("token", as: family.guardian)
            server.clock.advance(by: .hours(12))
            try await server.register("other", as: family.child)
            server.clock.advance(by: .hours(12))
            let deleted = try await server.database.run {
                try await Housekeeping.applyRetention($0, at: server.clock.now())
            }
            #expect(deleted == 1)
            #expect(try await server.rows("SELECT count FROM daily_counts") == [["count": 1]])
        }
    }
}
