import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Idempotency-Key")
struct IdempotencyTests {
    private func body(_ family: Household, _ description: String = "Dishes") -> JSONValue {
        [
            "family_id": .string(family.id.description), "recipient_id": .string(family.child.id.description),
            "due_at": "2026-03-10T20:00:00Z", "category": "chores", "done_definition": "ack_only",
            "description": .string(description),
        ]
    }

    @Test("identical creations by one person within two seconds are one, also at once; anything else is not")
    func identicalCreations() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            func create(
                _ description: String = "Dishes", by person: TestPerson? = nil, headers: [String: String] = [:]
            ) async throws -> String {
                let reply = try await server.call(
                    "POST", "/api/v1/nags", as: person ?? family.guardian, body: body(family, description),
                    headers: headers)
                #expect(reply.status == 201)
                return reply.json?["id"]?.stringValue ?? ""
            }
            let ids = try await server.expectOnly(audit: ["nag.created"], events: ["nag_created"], stamped: 1) {
                async let taps = [create(), create(), create()]
                return try await Set(taps)
            }
            let first = try #require(ids.first)
            #expect(ids.count == 1)
            server.clock.advance(by: .milliseconds(1_999))
            let again = try await server.call("POST", "/api/v1/nags", as: family.guardian, body: body(family))
            #expect(again.json?["id"]?.stringValue == first && again.header("idempotent-replay") == "true")
            var others = [
                try await create("Dusting"), try await create(by: family.secondGuardian),
                try await create(headers: ["Idempotency-Key": "one"]),
                try await create(headers: ["Idempotency-Key": "two"]),
            ]
            server.clock.advance(by: .milliseconds(1))
            others.append(try await create(headers: ["Idempotency-Key": "three"]))
            #expect(Set(others + [first]).count == 6)
            server.clock.advance(by: .seconds(2))
            let later = try await create()
            #expect(!others.contains(later) && later != first)
            let withdrawn = try await server.call("POST", "/api/v1/nags/\(later)/withdraw", as: family.guardian)
            #expect(withdrawn.status == 200)
            #expect(try await create() != later, "a nag that was withdrawn is not asked for again")
        }
    }

    @Test("a replayed key gets the first answer and does nothing again, whatever has happened since")
    func replay() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            func create(_ body: JSONValue, key: String) async throws -> Reply {
                try await server.call(
                    "POST", "/api/v1/nags", as: family.guardian, body: body, headers: ["Idempotency-Key": key])
            }
            let first = try await server.expectOnly(audit: ["nag.created"], events: ["nag_created"], stamped: 1) {
                try await create(body(family), key: "one")
            }
            #expect(first.status == 201)
            let nag = try #require(first.json?["id"]?.stringValue ?? first.json?["nag_id"]?.stringValue)
            try await server.call("POST", "/api/v1/nags/\(nag)/withdraw", as: family.guardian)
            let again = try await server.expectOnly { try await create(body(family), key: "one") }
            #expect(again.status == 201 && again.body == first.body)
            #expect(first.header("idempotent-replay") == nil && again.header("idempotent-replay") == "true")

            let other = try await server.expectOnly { try await create(body(family, "Laundry"), key: "one") }
            #expect(other.status == 422 && other.json?["error"]?["details"]?["field"] == "Idempotency-Key")
            let elsewhere = try await server.expectOnly {
                try await server.call(
                    "POST", "/api/v1/nags/\(nag)/withdraw", as: family.guardian, headers: ["Idempotency-Key": "one"])
            }
            #expect(elsewhere.status == 422)

            // Keys belong to a person: another's is another.
            let another = try await server.call(
                "POST", "/api/v1/nags", as: family.secondGuardian, body: body(family),
                headers: ["Idempotency-Key": "one"])
            #expect(another.status == 201 && another.body != first.body)
        }
    }

    @Test("a retry of a creation gets the created nag also after its due time")
    func afterTheDueTime() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let order = server.order(for: family.child, in: family.id)
            func create(key: String) async throws -> NagResponse {
                try await server.call(
                    API.createNag, order, as: family.guardian, headers: ["Idempotency-Key": key])
            }
            let first = try await create(key: "lost")
            server.clock.advance(by: order.dueAt - server.clock.now())
            let again = try await server.expectOnly { try await create(key: "lost") }
            #expect(again == first)
            let late = try await server.expectOnly { try await refusal { try await create(key: "late") } }
            #expect(late.code == .validationFailed && late.field == "due_at")
        }
    }

    @Test("twenty requests at once with one key are one act with one answer")
    func concurrent() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let replies = try await server.expectOnly(audit: ["nag.created"], events: ["nag_created"], stamped: 1) {
                try await withThrowingTaskGroup(of: Reply.self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            try await server.call(
                                "POST", "/api/v1/nags", as: family.guardian, body: body(family),
                                headers: ["Idempotency-Key": "burst"])
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            #expect(replies.allSatisfy { $0.status == 201 })
            #expect(Set(replies.map(\.body)).count == 1)
            #expect(replies.count { $0.header("idempotent-replay") == "true" } == 19)
        }
    }

    @Test("a replay after the session's end is 401 without the first answer; no column holds the key in the clear")
    func afterTheSession() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            func create() async throws -> Reply {
                try await server.call(
                    "POST", "/api/v1/nags", as: family.guardian, body: body(family),
                    headers: ["Idempotency-Key": "canary-of-a-key"])
            }
            let first = try await create()
            #expect(first.status == 201)
            let nag = try #require(first.json?["id"]?.stringValue)
            func rows(containing text: String) async throws -> Int {
                try await server.rows(
                    """
                    SELECT 1 AS n FROM idempotency_keys k
                    WHERE position(\(text) IN k::text) > 0 OR position(encode(\(Array(text.utf8)), 'hex') IN k::text) > 0
                    """
                ).count
            }
            #expect(try await rows(containing: "canary-of-a-key") == 0)
            #expect(try await rows(containing: nag) == 1, "it would be found")
            #expect(try await create().body == first.body)
            try await server.sql("UPDATE sessions SET revoked_at = now() WHERE id = \(family.guardian.session)")
            let replay = try await server.expectOnly { try await create() }
            #expect(replay.status == 401 && !replay.text.contains(nag))
            #expect(replay.header("idempotent-replay") == nil)
        }
    }

    @Test("a refusal is not kept for a key, so that the same key may succeed later")
    func afterRefusal() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let path = "/api/v1/nags"
            let headers = ["Idempotency-Key": "later"]
            try await server.sql(
                "UPDATE memberships SET role = 'child' WHERE user_id = \(family.participant.id)")
            let refused = try await server.call(
                "POST", path, as: family.participant, body: body(family), headers: headers)
            #expect(refused.status == 403)
            try await server.sql(
                "UPDATE memberships SET role = 'participant' WHERE user_id = \(family.participant.id)")
            let made = try await server.call("POST", path, as: family.participant, body: body(family), headers: headers)
            #expect(made.status == 201)
        }
    }
}
