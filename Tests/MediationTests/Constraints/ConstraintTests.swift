import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Constraints")
struct ConstraintTests {
    @Test("a constraint is created, read and deleted with exact values, and its entry has none of its words")
    func lifetime() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let condition: JSONValue = ["field": "content", "operator": "contains", "value": "canary|SSN"]
            let reply = try await server.expectOnly(audit: ["ai_constraint.created"]) {
                try await server.call(
                    "POST", "/api/v1/ai/constraints", as: family.guardian,
                    body: [
                        "family_id": .string(family.id.description), "scope": "family", "name": " canary ",
                        "type": "privacy", "priority": 5, "conditions": [condition],
                        "action": ["type": "block", "reason": "canary"],
                    ])
            }
            #expect(reply.status == 201)
            let made = try #require(reply.json)
            let id = try #require(made["id"]?.stringValue.flatMap { ConstraintID($0) })
            let now = JSONValue.string(server.clock.now().rfc3339)
            var expected: JSONObject = [
                "id": .string(id.description), "family_id": .string(family.id.description), "owner_id": .null,
                "scope": "family", "name": "canary", "type": "privacy", "enabled": true, "priority": 5,
                "conditions": [condition], "action": ["type": "block", "reason": "canary"], "schema_version": 1,
                "plain_text":
                    #"If prompt contains "canary" or "SSN", then block execution with reason: "canary""#,
                "created_by": .string(family.guardian.id.description), "created_at": now, "updated_at": now,
            ]
            for person in [family.guardian, family.child, family.participant] {
                let read = try await server.call("GET", "/api/v1/ai/constraints/\(id)", as: person)
                #expect(read.json == .object(expected))
                #expect(try await server.constraints(of: family, as: person).map(\.id) == [id])
            }
            expected["reordered"] = []
            #expect(made == .object(expected))
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.resource == id.retyped() && entry.actor == family.guardian.pseudonym)
            #expect(entry.details["digest"]?.count == 64)
            #expect(
                entry.details.filter { $0.key != "digest" } == [
                    "scope": "family", "type": "privacy", "enabled": "true", "priority": "5", "action": "block",
                    "conditions": "1", "moved": "",
                ])
            #expect(!entry.details.description.contains("canary"))
            try await server.expectOnly(audit: ["ai_constraint.deleted"]) {
                _ = try await server.call(
                    API.deleteConstraint, ConstraintPath(constraintID: id), as: family.secondGuardian)
            }
            #expect(try await server.constraints(of: family).isEmpty)
            try await expectRefusal(404) {
                try await server.call(API.deleteConstraint, ConstraintPath(constraintID: id), as: family.guardian)
            }
        }
    }

    @Test("the constraints of a scope have at most 500 texts, created, changed or imported")
    func texts() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            func terms(_ texts: Int, _ scope: ConstraintScope = .family) throws -> ConstraintTerms {
                let conditions = stride(from: 0, to: texts, by: 50).map { start in
                    ("content", "contains", Array(repeating: "x", count: min(50, texts - start)).joined(separator: "|"))
                }
                return try .about("n", scope, 1, .warn(message: "m"), conditions)
            }
            let made = try await server.constraint(terms(450), in: family).constraint
            try await server.constraint(terms(50), in: family)
            func expectTooMany(_ field: String, _ body: () async throws -> some Any) async throws {
                let refused = try await refusal(body)
                #expect(refused.code == .validationFailed && refused.field == field)
            }
            try await expectTooMany("conditions") { try await server.constraint(terms(1), in: family) }
            try await expectTooMany("constraints[1].conditions") {
                try await server.importConstraints([terms(500, .own), terms(1, .own)], in: family)
            }
            try await server.constraint(terms(500, .own), in: family)
            try await server.change(made.id, ConstraintUpdate(conditions: terms(449).conditions), as: family.guardian)
            try await server.constraint(terms(1), in: family)
            try await expectTooMany("conditions") {
                try await server.change(
                    made.id, ConstraintUpdate(conditions: terms(450).conditions), as: family.guardian)
            }
        }
    }

    @Test("a change of a constraint keeps the rest, and one that changes nothing writes nothing")
    func changes() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let made = try await server.constraint(in: family).constraint
            server.clock.advance(by: .minutes(1))
            let changed = try await server.expectOnly(audit: ["ai_constraint.changed"]) {
                try await server.change(
                    made.id, ConstraintUpdate(isEnabled: false, action: .forceLocal), as: family.secondGuardian)
            }.constraint
            var expected = made
            expected.terms.isEnabled = false
            expected.terms.action = .forceLocal
            expected.plainText = "If token count exceeds 10, then force local execution"
            expected.updatedAt = server.clock.now()
            #expect(changed == expected)
            #expect(try await server.constraints(of: family) == [expected])
            try await server.expectOnly {
                _ = try await server.change(made.id, ConstraintUpdate(name: " n "), as: family.guardian)
            }
        }
    }

    @Test("a constraint with a taken priority moves the others down, up to the first free one")
    func moving() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for (name, priority) in [("a", 1), ("b", 2), ("c", 4)] {
                try await server.constraint(name, .family, priority, in: family)
            }
            try await server.constraint("own", .own, 1, in: family)
            let known = try await server.constraints(of: family)
            func id(_ name: String) throws -> ConstraintID { try #require(known.first { $0.terms.name == name }).id }
            let made = try await server.constraint("d", .family, 1, in: family)
            #expect(
                made.reordered == [
                    ConstraintMove(id: try id("a"), priority: 2), ConstraintMove(id: try id("b"), priority: 3),
                ])
            #expect(Set(try await server.order(of: family)) == ["d 1", "own 1", "a 2", "b 3", "c 4"])
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.details["moved"] == "\(try id("a")) 2,\(try id("b")) 3")
            // Its own place is free when it moves.
            let moved = try await server.change(try id("b"), ConstraintUpdate(priority: 1), as: family.guardian)
            #expect(
                moved.reordered == [
                    ConstraintMove(id: made.constraint.id, priority: 2), ConstraintMove(id: try id("a"), priority: 3),
                ])
            #expect(Set(try await server.order(of: family)) == ["b 1", "own 1", "d 2", "a 3", "c 4"])
        }
    }

    @Test("a constraint is refused if no priority is left behind its taken one")
    func noRoom() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let first = try await server.constraint("a", .family, 998, in: family).constraint
            try await server.constraint("b", .family, 999, in: family)
            try await server.expectOnly {
                let refusal = try await expectRefusal(422) {
                    try await server.constraint("c", .family, 998, in: family)
                }
                #expect(refusal.field == "priority")
                let import_ = try await expectRefusal(422) {
                    try await server.importConstraints(
                        [try .about("d", .family, 1), try .about("e", .family, 999)], in: family)
                }
                #expect(import_.field == "constraints[1].priority")
            }
            let changed = try await server.change(first.id, ConstraintUpdate(priority: 997), as: family.guardian)
            #expect(changed.reordered.isEmpty && changed.constraint.terms.priority == 997)
        }
    }

    @Test("a participant and a child may not write the family's constraints", arguments: ["participant", "child"])
    func refused(who: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let person = try #require(family.somebody(who))
            let made = try await server.constraint(in: family).constraint
            let path = ConstraintPath(constraintID: made.id)
            try await server.expectOnly(audit: ["ai_constraint.change.denied"]) {
                let denials = [
                    try await expectRefusal(403) { try await server.constraint(in: family, as: person) },
                    try await expectRefusal(403) {
                        try await server.change(made.id, ConstraintUpdate(isEnabled: false), as: person)
                    },
                    try await expectRefusal(403) { try await server.call(API.deleteConstraint, path, as: person) },
                    try await expectRefusal(403) {
                        try await server.call(
                            API.orderConstraints, ConstraintOrderUpdate(ids: [made.id]), as: person)
                    },
                    try await expectRefusal(403) {
                        try await server.importConstraints(
                            [try .about("x", .own), try .about()], in: family, as: person)
                    },
                ]
                #expect(denials.allSatisfy { $0.code == .authorizationDenied && $0.reason == "guardian_only" })
            }
            #expect(try await server.constraints(of: family) == [made])
            let own = try await server.constraint("mine", .own, in: family, as: person).constraint
            #expect(own.ownerID == person.id && own.createdBy == person.id)
        }
    }

    @Test(
        "another person's own constraints, and another family's, are 404",
        arguments: ["guardian", "child", "stranger", "removed"])
    func invisible(who: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let person = try #require(family.somebody(who))
            let own = try await server.constraint("mine", .own, in: family, as: family.participant).constraint
            let shared = try await server.constraint("ours", .family, in: family).constraint
            let isMember = who == "guardian" || who == "child"
            try await server.expectOnly {
                for id in [own.id] + (isMember ? [] : [shared.id]) {
                    let path = ConstraintPath(constraintID: id)
                    try await expectRefusal(404) { try await server.call(API.getConstraint, path, as: person) }
                    try await expectRefusal(404) { try await server.change(id, ConstraintUpdate(), as: person) }
                    try await expectRefusal(404) { try await server.call(API.deleteConstraint, path, as: person) }
                    try await expectRefusal(404) {
                        try await server.call(API.orderConstraints, ConstraintOrderUpdate(ids: [id]), as: person)
                    }
                }
            }
            guard isMember else {
                try await expectRefusal(403) { try await server.constraints(of: family, as: person) }
                return
            }
            #expect(try await server.order(of: family, as: person) == ["ours 1"])
            #expect(try await server.export(family, as: person).constraints.map(\.name) == ["ours"])
        }
    }

    @Test("a scope has a hundred constraints at most, also when many are created at once")
    func limit() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let most = ConstraintLimit.maxConstraintsPerScope
            let imported = try await server.importConstraints(
                try (1...96).map { try .about("\($0)", .family, $0) }, in: family)
            #expect(imported.imported == 96)
            let outcomes = try await together(outcomesOf: 8) { number in
                try await server.constraint("n", .family, 500 + number, in: family)
            }
            #expect(outcomes.count { (try? $0.get()) != nil } == 4)
            for case .failure(let refusal) in outcomes {
                #expect(refusal.code == .policyForbidden && refusal.reason == "constraint_limit_reached")
            }
            #expect(try await server.constraints(of: family).count == most)
            try await expectRefusal(403) { try await server.importConstraints([try .about()], in: family) }
            try await server.constraint("mine", .own, in: family)
        }
    }

    @Test("own constraints end with the membership, and are in the account's export")
    func departure() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let own = try await server.constraint("mine", .own, in: family, as: family.participant).constraint
            try await server.constraint("ours", .family, in: family)
            let export = try await server.call("GET", "/api/v1/accounts/export", as: family.participant)
            let listed = export.json?["ai_constraints"]?.arrayValue
            #expect(listed?.count == 1 && listed?.first?["id"]?.stringValue == own.id.description)
            _ = try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: family.participant)
            #expect(try await server.rows("SELECT name FROM ai_constraints") == [["name": "ours"]])
        }
    }
}
