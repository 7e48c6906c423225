import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Policies with an only owner")
struct PolicyTests {
    static let standard: JSONObject = [
        "daily_nag_cap": 8, "max_snooze_minutes": 30, "points_multiplier": 1.0, "max_pushback": 2,
        "pushback_cooldown_minutes": 60, "third_party_models": false,
    ]

    @Test("every family has a policy with every limit under its public name")
    func standard() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.expectOnly {
                let policy = try await server.policy(family.id, as: family.secondGuardian)
                #expect(policy.owners == [family.guardian.id] && policy.status == "active" && policy.version == 1)
                #expect(policy.familyID == family.id && policy.proposal == nil)
                let text = JSONValue.object(policy.constraints).description
                #expect(text == JSONValue.object(Self.standard).description, "\(text)")
                let same = try await server.call(
                    API.getPolicy, PolicyPath(policyID: policy.id), as: family.guardian)
                #expect(same == policy)
                let empty = try await server.call(
                    API.listPolicies, PolicyListQuery(familyID: family.id, page: PageRequest(offset: 1)),
                    as: family.guardian)
                #expect(empty.items == [] && empty.total == 1)
                #expect(try await server.approvals(policy.id, as: family.secondGuardian).total == 0)
            }
        }
    }

    @Test("a change of a policy holds at once; its entry has the version, and each limit before and after")
    func change() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.policyID(family.id)
            let changed = try await server.expectOnly(audit: ["policy.changed"]) {
                try await server.change(
                    id, ["daily_nag_cap": 2.0, "points_multiplier": 1.5, "mood": "quiet"], as: family.guardian)
            }
            #expect(changed.version == 2 && changed.owners == [family.guardian.id])
            #expect(changed.constraints["daily_nag_cap"] == 2 && changed.constraints["points_multiplier"] == 1.5)
            #expect(changed.constraints["max_pushback"] == 2 && changed.constraints["mood"] == "quiet")
            #expect(try await server.policy(family.id, as: family.guardian) == changed)
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.resource == id.retyped() && entry.actor == family.guardian.pseudonym)
            #expect(entry.details["version"] == "2" && entry.details["awaits_co_owner"] == "false")
            #expect(entry.details["daily_nag_cap"] == "2" && entry.details["old_daily_nag_cap"] == "8")
            #expect(entry.details["points_multiplier"] == "1.5" && entry.details["old_points_multiplier"] == "1.0")
            #expect(entry.details["max_pushback"] == "2" && entry.details["old_max_pushback"] == nil)
            #expect(entry.details["owners"] == family.guardian.pseudonym.description)
            #expect(!entry.details.values.contains { $0.contains("mood") || $0.contains("quiet") })

            let same = try await server.expectOnly {
                _ = try await server.change(id, as: family.guardian)
                return try await server.change(id, ["daily_nag_cap": 2], as: family.guardian)
            }
            #expect(same == changed, "what changes nothing leaves nothing")
            let reset = try await server.expectOnly(audit: ["policy.changed"]) {
                try await server.change(
                    id, ["daily_nag_cap": nil, "points_multiplier": nil, "mood": nil], as: family.guardian)
            }
            #expect(reset.constraints == Self.standard && reset.version == 3)
        }
    }

    @Test(
        "guardians alone read and change a policy; others get 403, and outsiders 403 or 404",
        arguments: [("participant", 403), ("child", 403), ("stranger", 404), ("removed", 404)])
    func refused(who: String, status: Int) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let person = try #require(family.somebody(who))
            let path = "/api/v1/policies/\(try await server.policyID(family.id))"
            // The first refusal of a kind within an hour is in the log, those after it are counted.
            let kinds = status == 403 ? ["policy.approve.denied", "policy.change.denied", "policy.read.denied"] : []
            try await server.expectOnly(audit: kinds) {
                let list = try await server.call("GET", "/api/v1/policies?family_id=\(family.id)", as: person)
                #expect(list.status == 403)
                for (method, path, body) in [
                    ("GET", path, nil), ("GET", path + "/approvals", nil),
                    ("PATCH", path, ["constraints": ["daily_nag_cap": 1]] as JSONValue?),
                    ("POST", path + "/approvals", [:]),
                ] {
                    let reply = try await server.call(method, path, as: person, body: body)
                    #expect(reply.status == status, "\(method) \(path)")
                    if status == 403 { #expect(reply.errorCode == "AUTHZ_DENIED") }
                }
            }
            #expect(try await server.policy(family.id, as: family.guardian).version == 1)
        }
    }

    @Test("a guardian who is no owner reads a policy, but neither changes nor approves it")
    func notOwner() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.policyID(family.id)
            try await server.expectOnly(audit: ["policy.change.denied", "policy.approve.denied"]) {
                let change = try await expectRefusal(403) {
                    try await server.change(id, owners: [family.secondGuardian], as: family.secondGuardian)
                }
                #expect(change.code == .authorizationDenied && change.reason == "policy_owner_only")
                let approval = try await expectRefusal(403) { try await server.approve(id, as: family.secondGuardian) }
                #expect(approval.reason == "policy_owner_only")
            }
        }
    }

    @Test(
        "a value that no policy may have is refused by its name",
        arguments: [
            ("daily_nag_cap", "0"), ("daily_nag_cap", "9"), ("daily_nag_cap", "2.5"), ("daily_nag_cap", "\"2\""),
            ("daily_nag_cap", "[2]"), ("daily_nag_cap", "9223372036854775807"), ("daily_nag_cap", "1e300"),
            ("max_snooze_minutes", "4"), ("max_snooze_minutes", "121"), ("points_multiplier", "0.09"),
            ("points_multiplier", "3.01"), ("points_multiplier", "true"), ("max_pushback", "-1"), ("max_pushback", "4"),
            ("pushback_cooldown_minutes", "14"), ("pushback_cooldown_minutes", "241"), ("daily_cap", "3"),
            ("cooldown_minutes", "15"), ("mood", "{}"), ("mood", "[]"),
            ("mood", "\"\(String(repeating: "x", count: 257))\""),
        ])
    func invalid(name: String, json: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.policyID(family.id)
            let value = try JSONValue(parsing: Array(json.utf8).span)
            let refusal = try await server.expectOnly {
                try await expectRefusal(422) { try await server.change(id, [name: value], as: family.guardian) }
            }
            #expect(refusal.code == .policyInvalidValue && refusal.field == "constraints.\(name)")
        }
    }

    @Test("unknown names of a policy are limited in number and length")
    func bounds() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.policyID(family.id)
            var many = JSONObject()
            for number in 0..<32 { many["name\(number)"] = .integer(Int64(number)) }
            #expect(try await server.change(id, many, as: family.guardian).constraints.count == 38)
            try await server.expectOnly {
                for more: JSONObject in [["one_more": true], [String(repeating: "n", count: 65): 1], ["": 1]] {
                    let refusal = try await expectRefusal(422) {
                        try await server.change(id, more, as: family.guardian)
                    }
                    #expect(refusal.code == .policyInvalidValue && refusal.field == "constraints")
                }
            }
            var fewer: JSONObject = ["exact": 9_007_199_254_740_993, "large": 1e300, "name": "ü"]
            for number in 0..<3 { fewer["name\(number)"] = .null }
            let kept = try await server.change(id, fewer, as: family.guardian)
            #expect(kept.constraints["exact"] == 9_007_199_254_740_993 && kept.constraints["large"] == 1e300)
            #expect(try await server.policy(family.id, as: family.guardian).constraints == kept.constraints)
        }
    }

    @Test("owners are one or two guardians of the family who can sign in")
    func owners() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.policyID(family.id)
            let puppet = try await server.member("Puppet", .guardian, of: family)
            try await server.sql("UPDATE users SET password_hash = NULL WHERE id = \(puppet.id)")
            let guardian = family.guardian
            try await server.expectOnly {
                for owners in [
                    [], [guardian, guardian], [guardian, family.participant], [guardian, family.child],
                    [family.stranger],
                    [guardian, family.removed], [guardian, puppet], [guardian, family.secondGuardian, puppet],
                ] {
                    let refusal = try await expectRefusal(422) {
                        try await server.change(id, owners: owners, as: guardian)
                    }
                    #expect(refusal.code == .policyInvalidValue && refusal.field == "owners")
                }
                let template = try await server.call(
                    "PATCH", "/api/v1/policies/\(id)", as: guardian, body: ["strategy_template": "stern"])
                #expect(template.status == 422)
            }
            let handed = try await server.expectOnly(audit: ["policy.changed"]) {
                try await server.change(id, owners: [family.secondGuardian], as: guardian)
            }
            #expect(handed.owners == [family.secondGuardian.id])
            try await expectRefusal(403) { try await server.change(id, ["daily_nag_cap": 1], as: guardian) }
        }
    }

    @Test("a change or an approval with an outdated If-Match is refused")
    func stale() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let first = try await server.policy(family.id, as: family.guardian)
            let second = try await server.change(
                first.id, ["daily_nag_cap": 7], as: family.guardian, ifMatch: first.etag)
            #expect(second.etag != first.etag)
            try await server.expectOnly {
                let change = try await expectRefusal(412) {
                    try await server.change(
                        first.id, ["daily_nag_cap": 6], as: family.guardian, ifMatch: first.etag)
                }
                #expect(change.code == .preconditionFailed)
                try await expectRefusal(422) {
                    try await server.change(first.id, ["daily_nag_cap": 9], as: family.guardian, ifMatch: first.etag)
                }
                try await expectRefusal(412) {
                    try await server.approve(first.id, as: family.guardian, ifMatch: first.etag)
                }
            }
            #expect(try await server.policy(family.id, as: family.guardian).etag == second.etag)
            for tags in ["*", "\"x\", \(second.etag)"] {
                try await server.change(second.id, ["daily_nag_cap": 7], as: family.guardian, ifMatch: tags)
            }
        }
    }

    @Test("without a proposal an owner approves the version in force, once")
    func approval() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.policyID(family.id)
            let given = try await server.expectOnly(audit: ["policy.approved"]) {
                try await together(6) { _ in try await server.approve(id, "Fine by me", as: family.guardian).id }
            }
            #expect(Set(given).count == 1)
            #expect(try await server.audit(family.id).last?.details == ["version": "1", "proposal": "none"])
            // Both public clients send null, and one may send nothing.
            for body in [nil, ["comment": nil] as JSONValue?] {
                let reply = try await server.call(
                    "POST", "/api/v1/policies/\(id)/approvals", as: family.guardian, body: body)
                #expect(reply.status == 201 && reply.json?["comment"] == "Fine by me")
            }
            let page = try await server.approvals(id, as: family.secondGuardian)
            #expect(page.total == 1 && page.items.map(\.approverID) == [family.guardian.id])
            try await server.change(id, ["daily_nag_cap": 3], as: family.guardian)
            try await server.approve(id, as: family.guardian)
            #expect(try await server.approvals(id, as: family.guardian).total == 2)
            let long = try await server.call(
                "POST", "/api/v1/policies/\(id)/approvals", as: family.guardian,
                body: ["comment": .string(String(repeating: "x", count: 2_001))])
            #expect(long.status == 422)
        }
    }

    @Test("every instance obeys a change with its next request")
    func peers() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.policyID(family.id)
            try await server.withPeers(1) { peers in
                let due = server.clock.now() + .hours(3)
                func nag(_ server: TestServer) async throws -> Int {
                    try await server.call(
                        "POST", "/api/v1/nags", as: family.guardian,
                        body: [
                            "family_id": .string(family.id.description), "category": "chores",
                            "recipient_id": .string(family.child.id.description), "done_definition": "ack_only",
                            "due_at": .string(due.rfc3339),
                        ], headers: TestServer.newIdempotencyHeader
                    ).status
                }
                #expect(try await nag(server) == 201)
                #expect(try await nag(peers[0]) == 201)
                try await server.change(id, ["daily_nag_cap": 2, "max_snooze_minutes": 5], as: family.guardian)
                #expect(try await nag(peers[0]) == 403)
                #expect(try await nag(server) == 403)
                try await peers[0].change(id, ["daily_nag_cap": 3], as: family.guardian)
                #expect(try await nag(server) == 201)
            }
        }
    }
}

/// Who may do what in the group `policies`.
extension MatrixRow {
    static let policies: [MatrixRow] = [
        MatrixRow(API.listPolicies, allowed: .guardians) { (PolicyListQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.getPolicy, allowed: .guardians) { (PolicyPath(policyID: $0.policy), NoBody()) },
        MatrixRow(API.listPolicyApprovals, allowed: .guardians) {
            (PolicyApprovalListQuery(policyID: $0.policy), NoBody())
        },
        // The guardian is the only owner.
        MatrixRow(API.updatePolicy, allowed: [.guardian]) {
            (PolicyPath(policyID: $0.policy), PolicyUpdate(constraints: ["daily_nag_cap": 5]))
        },
        MatrixRow(API.approvePolicy, allowed: [.guardian]) { (PolicyPath(policyID: $0.policy), ApprovalCreate()) },
    ]
}
