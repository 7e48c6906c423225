import Contract
import Domain
import JSON
import Testing

@testable import Server

@Suite("Shapes that the public clients rely on")
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

    @Test("unknown members and parameters are ignored")
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
            let made = try await server.call("POST", "/api/v1/nags?mood=1", as: family.guardian, body: body)
            #expect(made.status == 201 && made.json?["due_at"] == "2026-03-11T17:00:00.000Z")
            let read = try await server.call(
                "GET", "/api/v1/sync/events?family_id=\(family.id)&since=2026-03-10T15:00:00Z&mood=&limit=7",
                as: family.child)
            #expect(read.status == 200)
        }
    }

    @Test("a feed asked for since 0 begins at the beginning")
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

    @Test("nobody has connections yet, and the page says so in either client's words")
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

    @Test("a development token speaks for its user where the server was told so, and nowhere else")
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
