import Contract
import Domain
import JSON
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Request and response shapes that the public clients rely on")
struct ClientShapeTests {
    @Test("double slashes and ids in upper case are read; ids in answers are lower case")
    func paths() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let path = "/api/v1//nags/\(nag.id.description.uppercased())"
            let reply = try await server.call("GET", path, as: family.child, isDocumented: false)
            #expect(reply.status == 200 && reply.json?["id"] == .string(nag.id.description))
            let list = try await server.call(
                "GET", "/api/v1/nags?family_id=\(family.id.description.uppercased())", as: family.child)
            #expect(list.json?["total"] == 1)
        }
    }

    private static func nag(in family: Household) -> JSONObject {
        [
            "family_id": .string("\(family.id)"), "recipient_id": .string("\(family.child.id)"),
            "due_at": "2026-03-10T20:00:00Z", "category": "chores", "done_definition": "ack_only",
        ]
    }

    @Test("unknown members and a read's unknown parameters are ignored")
    func unknownNames() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let body: JSONValue = [
                "family_id": .string(family.id.description.uppercased()),
                "recipient_id": .string(family.child.id.description.uppercased()),
                // The mobile client's milliseconds, with another zone.
                "due_at": "2026-03-11T18:00:00.000+01:00", "category": "chores", "done_definition": "binary_check",
                "attachment_ids": [], "mood": ["deep": [1, .null]],
            ]
            let made = try await server.call("POST", "/api/v1/nags", as: family.guardian, body: body)
            #expect(made.status == 201 && made.json?["due_at"] == "2026-03-11T17:00:00.000Z")
            let read = try await server.call(
                "GET", "/api/v1/sync/events?family_id=\(family.id)&since=2026-03-10T15:00:00Z&mood=&limit=7",
                as: family.child)
            #expect(read.status == 200 && read.header("ignored-parameters") == "mood, limit")
        }
    }

    @Test("a write with an unknown parameter is refused before anything is done, and the meant name is suggested")
    func unknownParameterOfWrite() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.expectOnly {
                for path in ["/api/v1/nags?mood=1", "/api/v1/ai/constraints/import?family_id=\(family.id)&dryrun=true"]
                {
                    let reply = try await server.call(
                        "POST", path, as: family.guardian,
                        body: .object(Self.nag(in: family)), isDocumented: false)
                    #expect(reply.status == 422 && reply.errorCode == "VALIDATION_ERROR", "\(path) \(reply.text)")
                    let isDryRun = path.hasSuffix("true")
                    #expect(reply.json?["error"]?["details"]?["field"] == (isDryRun ? "dryrun" : "mood"))
                    #expect(reply.text.contains("Did you mean dry_run?") == isDryRun)
                }
            }
        }
    }

    @Test("`Prefer: handling=strict` refuses unknown names in queries, bodies and the objects in them")
    func strict() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            func reply(
                _ method: String, _ path: String, _ body: JSONValue? = nil, _ preference: String = "handling=strict"
            ) async throws -> Reply {
                try await server.call(
                    method, "/api/v1" + path, as: family.guardian, body: body, headers: ["prefer": preference],
                    isDocumented: false)
            }
            for preference in ["handling=strict", "respond-async, Handling=\"strict\"", "handling = strict; x"] {
                let refused = try await reply("GET", "/nags?statuss=open", nil, preference)
                #expect(refused.status == 422 && refused.text.contains("Did you mean status?"), "\(refused.text)")
            }
            let lenient = try await reply("GET", "/nags?statuss=open", nil, "handling=lenient")
            #expect(lenient.status == 200 && lenient.header("ignored-parameters") == "statuss")
            let plain = try await reply("GET", "/nags?status=open")
            #expect(plain.status == 200 && plain.header("ignored-parameters") == nil)
            var body = Self.nag(in: family)
            #expect(try await reply("POST", "/nags", .object(body)).status == 201)
            body["mood"] = 1
            let member = try await reply("POST", "/nags", .object(body))
            #expect(member.status == 422 && member.json?["error"]?["details"]?["field"] == "mood")
            let constraint: JSONValue = [
                "scope": "family", "name": "a", "type": "cost", "enabled": true, "priority": 2,
                "conditions": [["field": "token_count", "operator": "exceeds", "value": "10", "negatted": true]],
                "action": ["type": "warn", "message": "long"],
            ]
            let nested = try await reply(
                "POST", "/ai/constraints/import?family_id=\(family.id)&dry_run=true",
                ["schema_version": 1, "constraints": [constraint]])
            #expect(
                nested.status == 422 && nested.json?["error"]?["details"]?["field"] == "negatted", "\(nested.text)")
        }
    }

    @Test(
        "a change of a field that a nag cannot change is refused",
        arguments: ["recipient_id", "recurrence", "family_id"])
    func unchangeable(_ member: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let reply = try await server.call(
                "PATCH", "/api/v1/nags/\(nag.id)", as: family.guardian,
                body: ["category": "meds", .init(stringLiteral: member): ["frequency": "daily"]], isDocumented: false)
            #expect(reply.status == 422 && reply.json?["error"]?["details"]?["field"] == .string(member))
        }
    }

    @Test("a feed with since 0 begins at the beginning")
    func sinceZero() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            _ = try await server.nag(from: family.guardian, to: family.child)
            let all = try await server.call("GET", "/api/v1/sync/events?family_id=\(family.id)", as: family.child)
            let zero = try await server.call(
                "GET", "/api/v1/sync/events?family_id=\(family.id)&since=0", as: family.child)
            #expect(zero.status == 200 && zero.json?["nags"]?.arrayValue?.count == 1)
            #expect(zero.json?["nags"] == all.json?["nags"] && zero.json?["nag_events"] == all.json?["nag_events"])
        }
    }

    @Test("the list of connections is empty if there are none, and an unknown status is refused")
    func connections() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let loner = try await server.account()
            try await server.expectOnly {
                for person in [family.guardian, family.child, loner] {
                    for query in ["", "?status=active", "?status=pending&limit=50&offset=0"] {
                        let reply = try await server.call("GET", "/api/v1/connections\(query)", as: person)
                        #expect(reply.status == 200 && reply.json?["items"] == [] && reply.json?["total"] == 0)
                    }
                }
                let unknown = try await server.call("GET", "/api/v1/connections?status=accepted", as: loner)
                #expect(unknown.status == 422 && unknown.errorCode == "VALIDATION_ERROR")
            }
        }
    }

    @Test("a development token is accepted only where the server was told so")
    func developmentTokens() async throws {
        for isAccepted in [true, false] {
            try await TestServer.run(
                configure: { $0.acceptsDevelopmentTokens = isAccepted },
                { server in
                    let family = try await server.family()
                    let id = family.guardian.id.description
                    for token in ["dev:\(id)", "dev:\(id.uppercased())"] {
                        let reply = try await server.call("GET", "/api/v1/families/\(family.id)", token: token)
                        #expect(reply.status == (isAccepted ? 200 : 401))
                    }
                })
        }
    }
}
