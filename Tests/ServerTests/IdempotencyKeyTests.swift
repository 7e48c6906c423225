import Contract
import Domain
import JSON
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Idempotency keys")
struct IdempotencyKeyTests {
    @Test(
        "a malformed Idempotency-Key is refused, and nothing is written",
        arguments: ["", "two words", "ünique", String(repeating: "k", count: 256)])
    func malformed(key: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let error = try await server.expectOnly {
                try await refusal {
                    try await server.call(
                        API.createNag, server.order(for: family.child, in: family.id), as: family.guardian,
                        headers: ["Idempotency-Key": key])
                }
            }
            #expect(error.code == .validationFailed && error.field == "Idempotency-Key")
        }
    }

    @Test("long Idempotency-Keys that differ in their last character are two")
    func long() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let order = server.order(for: family.child, in: family.id)
            var made: [NagID] = []
            for last in ["a", "b", "a"] {
                let key = String(repeating: "k", count: 254) + last
                made.append(
                    try await server.call(
                        API.createNag, order, as: family.guardian, headers: ["Idempotency-Key": key]
                    ).id)
            }
            #expect(made[0] != made[1] && made[0] == made[2])
        }
    }

    @Test("a sign-up ignores its Idempotency-Key")
    func open() async throws {
        try await TestServer.run { server in
            let request = SignupRequest(
                email: try EmailAddress(wireText: "ada@example.org"), password: Secret("a long one"))
            _ = try await server.call(API.signUp, request, headers: ["Idempotency-Key": ""])
        }
    }
}
