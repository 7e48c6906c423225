import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Incentive rules")
struct IncentiveRuleTests {
    @Test("a rule has versions; the newest is listed, and each has its audit entry")
    func versions() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let rule = try await server.expectOnly(audit: ["incentive_rule.created"]) {
                try await server.rule(.streakReached, 3, .badge, 1, .guardianConfirmed, in: family)
            }
            #expect(rule.version == 1 && rule.status == .active && rule.familyID == family.id)
            #expect(try await server.rules(of: family) == [rule])
            let changed = try await server.expectOnly(audit: ["incentive_rule.changed"]) {
                try await server.change(
                    rule.id, IncentiveRuleUpdate(action: IncentiveAction(type: .bonusPoints, amount: 7)),
                    as: family.secondGuardian)
            }
            #expect(changed.version == 2 && changed.id == rule.id && changed.condition == rule.condition)
            #expect(changed.action == IncentiveAction(type: .bonusPoints, amount: 7))
            #expect(try await server.rules(of: family) == [changed])
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.resource == rule.id.retyped() && entry.actor == family.secondGuardian.pseudonym)
            #expect(
                entry.details == [
                    "version": "2", "trigger": "streak_reached", "count": "3", "reward": "bonus_points", "amount": "7",
                    "approval_mode": "guardian_confirmed", "status": "active",
                ])
            let same = try await server.expectOnly {
                _ = try await server.change(rule.id, IncentiveRuleUpdate(), as: family.guardian)
                return try await server.change(
                    rule.id, IncentiveRuleUpdate(approvalMode: .guardianConfirmed), as: family.guardian)
            }
            #expect(same == changed)
            let rows = try await server.rows("SELECT version, status FROM incentive_rules ORDER BY version")
            #expect(rows == [["version": 1, "status": "superseded"], ["version": 2, "status": "active"]])
        }
    }

    @Test("several changes of a rule at once are a version each, and none is lost")
    func atOnce() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let rule = try await server.rule(in: family)
            try await server.withPeers(1) { peers in
                let changes: [IncentiveRuleUpdate] = [
                    IncentiveRuleUpdate(condition: IncentiveCondition(type: .streakReached, count: 9)),
                    IncentiveRuleUpdate(action: IncentiveAction(type: .badge, amount: 1_000)),
                    IncentiveRuleUpdate(approvalMode: .guardianConfirmed), IncentiveRuleUpdate(status: .retired),
                ]
                let versions = try await together(4) { number in
                    try await (number.isMultiple(of: 2) ? server : peers[0]).change(
                        rule.id, changes[number], as: number < 2 ? family.guardian : family.secondGuardian
                    ).version
                }
                #expect(Set(versions) == [2, 3, 4, 5])
            }
            let last = try #require(try await server.rules(of: family).first)
            #expect(last.version == 5 && last.status == .retired && last.approvalMode == .guardianConfirmed)
            #expect(last.condition == IncentiveCondition(type: .streakReached, count: 9))
            #expect(last.action == IncentiveAction(type: .badge, amount: 1_000))
        }
    }

    @Test(
        "guardians alone read, change and approve incentive rules; others get 403, and outsiders 403 or 404",
        arguments: [("participant", 403), ("child", 403), ("stranger", 404), ("removed", 404)])
    func refused(who: String, status: Int) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let rule = try await server.rule(.nagCompleted, 1, .bonusPoints, 5, .guardianConfirmed, in: family)
            let event = try #require(try await server.earn(family.child, in: family).first)
            let person = try #require(family.somebody(who))
            let body: JSONValue = [
                "family_id": .string(family.id.description), "condition": ["type": "nag_completed", "count": 1],
                "action": ["type": "bonus_points", "amount": 1],
            ]
            let kinds =
                status == 403
                ? ["incentive.approve.denied", "incentive.read.denied", "incentive_rule.change.denied"] : []
            try await server.expectOnly(audit: kinds) {
                for (method, path, body) in [
                    ("GET", "incentive-rules?family_id=\(family.id)", nil), ("POST", "incentive-rules", body),
                    ("GET", "incentive-events/waiting?family_id=\(family.id)", nil as JSONValue?),
                ] {
                    let reply = try await server.call(method, "/api/v1/\(path)", as: person, body: body)
                    #expect(reply.status == 403 && reply.errorCode == "AUTHZ_DENIED", "\(method) \(path)")
                }
                for (method, path, body) in [
                    ("PATCH", "incentive-rules/\(rule.id)", ["status": "retired"]),
                    ("GET", "incentive-events?nag_id=\(event.nagID)", nil as JSONValue?),
                    ("POST", "incentive-events/\(event.id)/approve", nil),
                ] {
                    let reply = try await server.call(method, "/api/v1/\(path)", as: person, body: body)
                    #expect(reply.status == status, "\(method) \(path)")
                }
            }
            #expect(try await server.rules(of: family) == [rule])
            #expect(try await server.waiting(family) == [event])
        }
    }

    @Test(
        "a family has twenty active rules at most; retiring one makes room, and reactivating one needs room")
    func limit() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let outcomes = try await together(outcomesOf: 24) { number in
                try await server.rule(.nagCompleted, number + 1, in: family)
            }
            let rules = outcomes.compactMap { try? $0.get() }
            #expect(rules.count == 20)
            for case .failure(let refusal) in outcomes {
                #expect(refusal.code == .policyForbidden && refusal.reason == "incentive_limit_reached")
            }
            try await server.change(rules[0].id, IncentiveRuleUpdate(status: .retired), as: family.guardian)
            try await server.rule(.streakReached, 100, in: family)
            server.clock.advance(by: RefusalCount.window)
            try await server.expectOnly(audit: ["incentive_rule.change.denied"]) {
                let refusal = try await expectRefusal(403) {
                    try await server.change(rules[0].id, IncentiveRuleUpdate(status: .active), as: family.guardian)
                }
                #expect(refusal.code == .policyForbidden)
            }
            let listed = try await server.rules(of: family)
            #expect(listed.count == 21 && listed.last?.status == .retired)
            try await server.change(rules[1].id, IncentiveRuleUpdate(status: .retired), as: family.guardian)
            let active = try await server.change(
                rules[0].id, IncentiveRuleUpdate(status: .active), as: family.guardian)
            #expect(active.version == 3 && active.status == .active)
        }
    }

    @Test("an incentive rule with an unknown type or a number out of range is refused by its field")
    func invalid() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let rule = try await server.rule(in: family)
            let condition: JSONValue = ["type": "nag_completed", "count": 5]
            let action: JSONValue = ["type": "bonus_points", "amount": 50]
            try await server.expectOnly {
                for (field, wrongCondition, wrongAction) in [
                    ("condition.type", ["type": "late_completion", "count": 5], action),
                    ("condition.count", ["type": "nag_completed", "count": 0], action),
                    ("condition.count", ["type": "nag_completed", "count": 101], action),
                    ("condition.count", ["type": "nag_completed", "count": [5]], action),
                    ("condition.count", ["type": "nag_completed"], action),
                    ("action.type", condition, ["type": "point_deduction", "amount": 50]),
                    ("action.amount", condition, ["type": "bonus_points", "amount": 1_001]),
                    ("action.amount", condition, ["type": "badge", "amount": -1]),
                    ("action.amount", condition, ["type": "badge", "amount": 1.5]),
                    ("condition", "nag_completed", action),
                ] as [(String, JSONValue, JSONValue)] {
                    let body: JSONValue = [
                        "family_id": .string(family.id.description), "condition": wrongCondition, "action": wrongAction,
                    ]
                    for (method, path) in [("POST", "incentive-rules"), ("PATCH", "incentive-rules/\(rule.id)")] {
                        let reply = try await server.call(
                            method, "/api/v1/\(path)", as: family.guardian, body: body, isDocumented: false)
                        #expect(
                            reply.status == 422 && reply.json?["error"]?["details"]?["field"] == .string(field),
                            "\(method) \(field)")
                    }
                }
            }
        }
    }

    @Test("unknown members of a condition or an action are not stored")
    func scalars() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let made = try await server.call(
                "POST", "/api/v1/incentive-rules", as: family.guardian,
                body: [
                    "family_id": .string(family.id.description),
                    "condition": ["type": "nag_completed", "count": 5.0, "deep": ["x": [1]]],
                    "action": ["type": "badge", "amount": 50, "words": "canary"], "approval_mode": "auto",
                ])
            #expect(made.status == 201 && made.json?["condition"] == ["type": "nag_completed", "count": 5])
            let rows = try await server.rows(
                "SELECT condition::text AS condition, action::text AS action FROM incentive_rules")
            #expect(rows.allSatisfy { !$0.description.contains("deep") && !$0.description.contains("canary") })
        }
    }
}

/// Who may do what in the group `incentives`.
extension MatrixRow {
    static let incentives: [MatrixRow] = [
        MatrixRow(API.listIncentiveRules, allowed: .guardians) {
            (IncentiveListQuery(familyID: $0.family.id), NoBody())
        },
        MatrixRow(API.createIncentiveRule, allowed: .guardians) {
            (
                NoParameters(),
                IncentiveRuleCreate(
                    familyID: $0.family.id, condition: IncentiveCondition(type: .nagCompleted, count: 2),
                    action: IncentiveAction(type: .badge, amount: 1))
            )
        },
        MatrixRow(API.updateIncentiveRule, allowed: .guardians) {
            (IncentiveRulePath(ruleID: $0.incentiveRule), IncentiveRuleUpdate(approvalMode: .auto))
        },
        MatrixRow(API.listIncentiveEvents, allowed: .guardians) {
            (IncentiveEventListQuery(nagID: $0.childNag), NoBody())
        },
        MatrixRow(API.listWaitingIncentiveEvents, allowed: .guardians) {
            (IncentiveListQuery(familyID: $0.family.id), NoBody())
        },
        MatrixRow(API.approveIncentiveEvent, allowed: .guardians) {
            (IncentiveEventPath(eventID: $0.incentiveEvent), NoBody())
        },
    ]
}
