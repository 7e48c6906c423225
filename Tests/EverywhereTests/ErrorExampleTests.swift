import Contract
import Domain
import JSON
import OpenAPICheck
import Postgres
import Testing

@testable import Server
@testable import ServerTestKit

/// The error responses that the API document shows as examples.
@Suite("Examples of errors in the API document")
struct ErrorExampleTests {
    @Test("every example of an error is what the server sends for such a request")
    func requests() async throws {
        try await TestServer.run(configure: { $0.enforcesRateLimits = true }) { server in
            let family = try await server.family()
            let path = "/api/v1/families/\(family.id)"
            let nag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
            expect(
                "MalformedRequest",
                try await server.send(
                    "POST", "/api/v1/families", token: server.token(family.guardian),
                    content: Array(#"{"name": "Smiths"x}"#.utf8)))
            expect(
                "UnsupportedMediaType",
                try await server.send(
                    "POST", "/api/v1/families", token: server.token(family.guardian), content: Array("{}".utf8),
                    ["Content-Type": "text/plain"]))
            expect("AuthenticationNeeded", try await server.call("GET", path))
            expect(
                "Forbidden",
                try await server.call(
                    "POST", path + "/members/create", as: family.participant,
                    body: ["display_name": "Kim", "role": "child"]))
            expect("NotFound", try await server.call("GET", "/api/v1/nags/\(family.id)", as: family.guardian))
            try await server.call("POST", "/api/v1/nags/\(nag)/withdraw", as: family.guardian)
            expect(
                "Conflict",
                try await server.call(
                    "POST", "/api/v1/nags/\(nag)/status", as: family.child, body: ["status": "completed"]))
            expect(
                "ValidationFailed",
                try await server.call(
                    "POST", "/api/v1/nags", as: family.guardian,
                    body: [
                        "family_id": .string(family.id.description),
                        "recipient_id": .string(family.child.id.description),
                        "category": "chores", "done_definition": "ack_only",
                        "due_at": .string((server.clock.now() - .hours(2)).rfc3339),
                    ]))
            expect(
                "PayloadTooLarge",
                try await RawClient.send(
                    Array("POST /api/v1/nags HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999\r\n\r\n".utf8),
                    to: server.port))
            expect(
                "URITooLong",
                try await server.call(
                    "GET", path + "?x=" + String(repeating: "x", count: 9_000), isDocumented: false))
            // The last of all: a guardian who leaves ends the sessions of children.
            try await server.call("POST", path + "/leave", as: family.secondGuardian)
            expect("PreconditionFailed", try await server.call("POST", path + "/leave", as: family.guardian))
        }
    }

    @Test("the example of a rate limit is what the server sends 31 seconds before the next minute")
    func rateLimit() async throws {
        try await TestServer.run(configure: { $0.enforcesRateLimits = true }) { server in
            server.clock.set(to: Timestamp(seconds: ManualClock.start.seconds / 60 * 60 + 29))
            for _ in 0..<300 { try await server.call("GET", "/api/v1/metrics") }
            expect("RateLimited", try await server.call("GET", "/api/v1/metrics"))
        }
    }

    @Test("the examples of faults are what the server makes of an unexpected error, and of a database out of reach")
    func faults() throws {
        struct Unexpected: Error {}
        for (name, error) in [("InternalError", Unexpected()), ("Unavailable", PostgresError.connectionLost)]
            as [(String, any Error)]
        {
            let envelope = ErrorEnvelope(Failure(error).answer, requestID: "018f3c1e-0a52-7c3d-9b61-2f4e5d6c7bff")
            #expect(try Self.example(name) == JSONValue(parsing: envelope.content.span), "\(name)")
        }
    }

    @Test("no example of an error is left out")
    func complete() {
        let tried: Set = [
            "MalformedRequest", "AuthenticationNeeded", "Forbidden", "NotFound", "Conflict", "ValidationFailed",
            "PayloadTooLarge", "UnsupportedMediaType", "URITooLong", "PreconditionFailed", "RateLimited",
            "InternalError", "Unavailable",
        ]
        #expect(Set(TestServer.document.errorExamples.keys) == tried)
    }

    private static func example(_ name: String) throws -> JSONValue {
        try #require(TestServer.document.errorExamples[name])
    }

    /// Expects the example's code, message and details.
    private func expect(_ name: String, _ reply: Reply, sourceLocation: SourceLocation = #_sourceLocation) {
        let example = TestServer.document.errorExamples[name]
        for member in ["code", "message", "details"] {
            #expect(
                reply.json?["error"]?[member] == example?["error"]?[member], "\(name): \(member)",
                sourceLocation: sourceLocation)
        }
    }
}
