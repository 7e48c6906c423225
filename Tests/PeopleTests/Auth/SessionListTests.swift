import Contract
import Domain
import JSON
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The list of one's sessions")
struct SessionListTests {
    private static func list(_ server: TestServer, _ token: Secret) async throws -> Page<SessionResponse> {
        let reply = try await server.call("GET", "/api/v1/me/sessions", token: token.wireText)
        return try Page<SessionResponse>(content: reply.body.span)
    }

    private static func logIn(_ server: TestServer, _ client: String) async throws -> AuthResponse {
        let reply = try await server.call(
            "POST", "/api/v1/auth/login", body: ["email": "nell@example.org", "password": "correct horse"],
            headers: ["User-Agent": client])
        return try AuthResponse(content: reply.body.span)
    }

    @Test("the list has one's open sessions by last use with the client's name, and no others")
    func list() async throws {
        try await TestServer.run { server in
            try await server.signUp("nell@example.org")
            server.clock.advance(by: .seconds(1))
            let phone = try await Self.logIn(server, "Nagz/3 (phone)")
            server.clock.advance(by: .seconds(1))
            let laptop = try await Self.logIn(server, String(repeating: "b", count: 300))
            server.clock.advance(by: .seconds(1))
            let other = try await server.signUp("otto@example.org")
            let sessions = try await Self.list(server, laptop.accessToken)
            #expect(sessions.total == 3)
            #expect(sessions.items.map(\.client) == [String(repeating: "b", count: 200), "Nagz/3 (phone)", nil])
            #expect(sessions.items.map(\.isCurrent) == [true, false, false])
            #expect(laptop.expiresIn == 86_400)

            server.clock.advance(by: .seconds(1))
            try await server.call(
                "POST", "/api/v1/auth/refresh", body: ["refresh_token": .string(phone.refreshToken.wireText)])
            let later = try await Self.list(server, laptop.accessToken)
            #expect(
                later.items.first?.client == "Nagz/3 (phone)" && later.items.first?.lastUsedAt == server.clock.now())

            let id = later.items[0].id
            let stolen = try await server.expectOnly {
                try await server.call("DELETE", "/api/v1/me/sessions/\(id)", token: other.accessToken.wireText)
            }
            #expect(stolen.status == 404)
            let ended = try await server.expectOnly(audit: ["session.revoked"]) {
                try await server.call("DELETE", "/api/v1/me/sessions/\(id)", token: laptop.accessToken.wireText)
            }
            #expect(ended.status == 204)
            let again = try await server.call("DELETE", "/api/v1/me/sessions/\(id)", token: laptop.accessToken.wireText)
            #expect(again.status == 404)
            let gone = try await server.call("GET", "/api/v1/me", token: phone.accessToken.wireText)
            #expect(gone.status == 401)
            #expect(try await Self.list(server, laptop.accessToken).total == 2)

            let others = try await server.call("DELETE", "/api/v1/me/sessions", token: laptop.accessToken.wireText)
            #expect(others.status == 204)
            #expect(try await Self.list(server, laptop.accessToken).items.map(\.isCurrent) == [true])
            #expect(try await Self.list(server, other.accessToken).total == 1)
        }
    }
}
