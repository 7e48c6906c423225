import Contract
import Domain
import JSON
import NagzAI
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Constraints: order, templates, export and import, simulation")
struct ConstraintExchangeTests {
    @Test("reordered constraints share out their priorities")
    func order() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            var ids: [ConstraintID] = []
            for (name, priority) in [("a", 1), ("b", 5), ("c", 7), ("d", 9)] {
                ids.append(try await server.constraint(name, .family, priority, in: family).constraint.id)
            }
            let moves = try await server.expectOnly(audit: ["ai_constraint.reordered"]) {
                try await server.call(
                    API.orderConstraints, ConstraintOrderUpdate(ids: [ids[3], ids[1], ids[0]]), as: family.guardian)
            }
            #expect(
                moves.reordered == [
                    ConstraintMove(id: ids[3], priority: 1), ConstraintMove(id: ids[0], priority: 9),
                ])
            #expect(try await server.order(of: family) == ["d 1", "b 5", "c 7", "a 9"])
            let own = try await server.constraint("own", .own, in: family).constraint.id
            try await server.expectOnly {
                let again = try await server.call(
                    API.orderConstraints, ConstraintOrderUpdate(ids: [ids[3], ids[0]]), as: family.guardian)
                #expect(again.reordered.isEmpty)
                let mixed = try await expectRefusal(422) {
                    try await server.call(
                        API.orderConstraints, ConstraintOrderUpdate(ids: [own, ids[0]]), as: family.guardian)
                }
                #expect(mixed.field == "ids")
                try await expectRefusal(404) {
                    try await server.call(
                        API.orderConstraints, ConstraintOrderUpdate(ids: [ids[0], ConstraintID(high: 0, low: 1)]),
                        as: family.guardian)
                }
            }
        }
    }

    @Test("the list of templates has the four templates")
    func templates() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let reply = try await server.call("GET", "/api/v1/ai/constraints/templates", as: family.child)
            #expect(reply.json?["items"]?.arrayValue?.count == 4)
            #expect(
                reply.json?["items"]?.arrayValue?.first == [
                    "name": "Protect Personal Information", "type": "privacy",
                    "conditions": [
                        [
                            "field": "content", "operator": "contains",
                            "value": "SSN|credit card|social security|passport",
                        ]
                    ],
                    "action": ["type": "block", "reason": "This prompt may contain personal information"],
                ])
        }
    }

    @Test("an export is imported unchanged; a dry run changes nothing, and one fault imports nothing")
    func exchange() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let kept = try await server.constraint("a", .family, 2, in: family).constraint
            try await server.constraint("b", .own, 2, in: family)
            let exported = try await server.call(
                "GET", "/api/v1/ai/constraints/export?family_id=\(family.id)&scope=family", as: family.guardian)
            let one: JSONValue = [
                "scope": "family", "name": "a", "type": "cost", "enabled": true, "priority": 2,
                "conditions": [["field": "token_count", "operator": "exceeds", "value": "10"]],
                "action": ["type": "warn", "message": "long"],
            ]
            #expect(exported.json == ["schema_version": 1, "constraints": [one]])
            let document = try await server.export(family, as: family.guardian)
            #expect(document.constraints.map(\.name).sorted() == ["a", "b"])
            let dry = try await server.expectOnly {
                try await server.importConstraints(document.constraints, in: family, isDryRun: true)
            }
            #expect(dry.isDryRun && dry.imported == 2 && dry.reordered.map(\.priority) == [3, 3])
            let wrong = try await server.expectOnly {
                try await server.call(
                    "POST", "/api/v1/ai/constraints/import?family_id=\(family.id)", as: family.guardian,
                    body: ["schema_version": 1, "constraints": [one, ["scope": "family"]]], isDocumented: false)
            }
            #expect(wrong.status == 422)
            #expect(wrong.json?["error"]?["details"]?["field"] == "constraints[1].name")
            let done = try await server.expectOnly(audit: ["ai_constraint.imported"]) {
                try await server.importConstraints(document.constraints, in: family)
            }
            #expect(!done.isDryRun && done.imported == 2 && done.reordered == dry.reordered)
            #expect(done.reordered.contains(ConstraintMove(id: kept.id, priority: 3)))
            #expect(try await server.order(of: family).sorted() == ["a 2", "a 3", "b 2", "b 3"])
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.details["count"] == "2" && entry.details["constraint_2"] != nil)
            #expect(!entry.details.description.contains("long"))
        }
    }

    @Test("every fault of a constraint is named by its field")
    func faults() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.constraint(in: family).constraint.id
            let cases: [(String, JSONObject)] = [
                ("name", ["name": " \n"]), ("priority", ["priority": 0]), ("conditions", ["conditions": []]),
                (
                    "conditions[1].field",
                    [
                        "conditions": [
                            ["field": "token_count", "operator": "exceeds", "value": "1"],
                            ["field": "size", "operator": "exceeds", "value": "1"],
                        ]
                    ]
                ),
                (
                    "conditions[0].operator",
                    ["conditions": [["field": "intent", "operator": "exceeds", "value": "retrieval"]]]
                ),
                (
                    "conditions[0].value",
                    ["conditions": [["field": "token_count", "operator": "equals", "value": "many"]]]
                ),
                ("action.type", ["action": ["type": "stop"]]), ("action.reason", ["action": ["type": "block"]]),
                ("action.prompt", ["action": ["type": "require_confirmation", "prompt": ""]]),
                ("action.message", ["action": ["type": "warn", "reason": "r"]]),
            ]
            try await server.expectOnly {
                for (field, change) in cases {
                    var body: JSONObject = [
                        "family_id": .string(family.id.description), "scope": "family", "name": "n", "type": "cost",
                        "priority": 1, "action": ["type": "force_local"],
                        "conditions": [["field": "token_count", "operator": "exceeds", "value": "1"]],
                    ]
                    for member in change.members { body[member.key] = member.value }
                    for (method, path, body) in [
                        ("POST", "constraints", body), ("PATCH", "constraints/\(id)", change),
                    ] {
                        let reply = try await server.call(
                            method, "/api/v1/ai/\(path)", as: family.guardian, body: .object(body), isDocumented: false)
                        #expect(
                            reply.status == 422 && reply.json?["error"]?["details"]?["field"] == .string(field),
                            "\(method) \(field) \(reply.text)")
                    }
                }
            }
        }
    }

    private func simulate(
        _ cases: [SimulatedCase], _ given: [SimulatedConstraint]? = nil, in family: Household, on server: TestServer
    ) async throws -> [SimulationResult] {
        try await server.call(
            API.simulateConstraints, ConstraintSimulation(familyID: family.id, cases: cases, constraints: given),
            as: family.child
        ).results
    }

    @Test("a simulation tells what policy and router say, with exact values, and stores nothing")
    func simulation() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let id = try await server.constraint(
                try .about("n", .family, 1, .block(reason: "secret"), [("content", "contains", "SSN")]), in: family
            ).constraint.id
            let cases = [
                SimulatedCase(question: SimulatedQuestion(content: "My ssn is 1")),
                SimulatedCase(question: SimulatedQuestion(content: "hello", privacyLevel: .local)),
            ]
            let results = try await server.expectOnly { try await simulate(cases, in: family, on: server) }
            #expect(results.count == 2)
            #expect(!results[0].policy.isAllowed && results[0].policy.effectiveAction == "block")
            #expect(results[0].policy.violation == SimulatedViolation(constraintID: id, reason: "secret"))
            #expect(results[0].decision == nil)
            #expect(results[0].failure == SimulatedFailure(code: "E-POLICY-001", rule: "POLICY_BLOCK"))
            #expect(results[0].explanation == "A constraint forbids it: secret")
            #expect(results[1].policy.evaluated == [id] && results[1].policy.applied.isEmpty)
            let decision = try #require(results[1].decision)
            #expect(decision.route == "local" && decision.rule == "PRIVACY_LOCAL" && decision.provider == "heuristic")
            #expect(decision.taskType == .heuristic && decision.model == nil && !decision.isFallbackAllowed)
            #expect(decision.confidence == 1 && decision.at == server.clock.now())
            #expect(results[1].explanation == "The question is to stay on the device")
            // Given constraints take the place of the saved ones.
            let given = try await simulate(
                cases,
                [
                    SimulatedConstraint(
                        terms: try .about("x", .own, 1, .forceCloud, [("intent", "notEquals", "retrieval")]))
                ],
                in: family, on: server)
            #expect(given[0].policy.evaluated == [ConstraintID(high: 0, low: 1)])
            #expect(given[0].decision?.rule == "POLICY_FORCE_CLOUD" && given[1].decision?.warnings.count == 1)
        }
    }

    @Test("a simulation of 1,000 cases is answered, and one that takes too long or answers too much is refused")
    func simulationLimits() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let asked = SimulatedCase(question: SimulatedQuestion(content: "words"))
            let results = try await simulate(Array(repeating: asked, count: 1_000), in: family, on: server)
            #expect(results.count == 1_000)
            try await server.expectOnly {
                let many = try await expectRefusal(422) {
                    try await simulate(Array(repeating: asked, count: 1_001), in: family, on: server)
                }
                #expect(many.field == "cases")
                let words = String(repeating: "a|", count: 249) + "b"
                let costly = try (1...10).map {
                    SimulatedConstraint(
                        terms: try .about("\($0)", .own, $0, .forceLocal, [("content", "contains", words)]))
                }
                let long = SimulatedCase(question: SimulatedQuestion(content: String(repeating: "x", count: 10_000)))
                let slow = try await expectRefusal(422) {
                    try await simulate([asked, long], costly, in: family, on: server)
                }
                #expect(slow.field == "cases[1].question.content")
                let loud = try (1...100).map {
                    SimulatedConstraint(
                        terms: try .about(
                            "\($0)", .own, $0, .warn(message: String(repeating: "x", count: 280)),
                            [("token_count", "lessThan", "9")]))
                }
                let big = try await expectRefusal(422) {
                    try await simulate(Array(repeating: asked, count: 300), loud, in: family, on: server)
                }
                #expect(big.field == "cases")
            }
        }
    }
}

/// Who may do what in the group `constraints`.
extension MatrixRow {
    private static func terms(_ scope: ConstraintScope) -> ConstraintTerms {
        let template = ConstraintTemplate.all[1]
        return ConstraintTerms(
            scope: scope, name: template.name, type: template.type, priority: 1, conditions: template.conditions,
            action: template.action)
    }

    static let constraints: [MatrixRow] = [
        MatrixRow(API.listConstraints, allowed: .members) {
            (ConstraintListQuery(ConstraintQuery(familyID: $0.family.id)), NoBody())
        },
        MatrixRow(API.createConstraint, "of the family", allowed: .guardians) {
            (NoParameters(), ConstraintCreate(familyID: $0.family.id, terms: terms(.family)))
        },
        MatrixRow(API.createConstraint, "of their own", allowed: .members) {
            (NoParameters(), ConstraintCreate(familyID: $0.family.id, terms: terms(.own)))
        },
        MatrixRow(API.orderConstraints, allowed: .guardians) {
            (NoParameters(), ConstraintOrderUpdate(ids: [$0.constraint]))
        },
        MatrixRow(API.listConstraintTemplates, concern: .caller, allowed: .everybody) { _ in (NoParameters(), NoBody())
        },
        MatrixRow(API.simulateConstraints, allowed: .members) {
            (
                NoParameters(),
                ConstraintSimulation(
                    familyID: $0.family.id, cases: [SimulatedCase(question: SimulatedQuestion(content: "words"))])
            )
        },
        MatrixRow(API.exportConstraints, allowed: .members) { (ConstraintQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.importConstraints, "of the family", allowed: .guardians) {
            (ConstraintImportQuery(familyID: $0.family.id), ConstraintDocument(constraints: [terms(.family)]))
        },
        MatrixRow(API.importConstraints, "of their own", allowed: .members) {
            (ConstraintImportQuery(familyID: $0.family.id), ConstraintDocument(constraints: [terms(.own)]))
        },
        MatrixRow(API.getConstraint, allowed: .members) { (ConstraintPath(constraintID: $0.constraint), NoBody()) },
        MatrixRow(API.updateConstraint, allowed: .guardians) {
            (ConstraintPath(constraintID: $0.constraint), ConstraintUpdate(name: "another"))
        },
        MatrixRow(API.deleteConstraint, allowed: .guardians) {
            (ConstraintPath(constraintID: $0.constraint), NoBody())
        },
    ]
}
