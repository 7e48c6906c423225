import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Refreshing a session")
struct RefreshTests {
    @Test("a refresh rotates the token, and its answer has the full shape")
    func rotation() async throws {
        try await TestServer.run { server in
            let first = try await server.signUp("nell@example.org")
            server.clock.advance(by: .hours(1))
            let second = try await server.expectOnly(audit: ["session.refreshed"]) {
                try await server.refresh(first.refreshToken)
            }
            #expect(second.user == first.user)
            #expect(second.refreshToken != first.refreshToken)
            #expect(second.accessToken != first.accessToken)
            server.clock.advance(by: .hours(22))
            #expect(try await server.status(of: first.accessToken) == 403, "access tokens live a day")
            server.clock.advance(by: .hours(1))
            #expect(try await server.status(of: first.accessToken) == 401, "the day is over")
            #expect(try await server.status(of: second.accessToken) == 403)
            _ = try await server.refresh(second.refreshToken)
        }
    }

    @Test("within a minute the same refresh token gives the same pair, and writes once")
    func grace() async throws {
        try await TestServer.run { server in
            let first = try await server.signUp("nell@example.org")
            let answers = try await server.expectOnly(audit: ["session.refreshed"]) {
                try await together(20) { _ in try await server.refresh(first.refreshToken) }
            }
            #expect(Set(answers).count == 1)
            server.clock.advance(by: .seconds(60))
            let late = try await server.expectOnly { try await server.refresh(first.refreshToken) }
            #expect(late == answers[0])
            let next = try await server.refresh(late.refreshToken)
            #expect(next.refreshToken != late.refreshToken)
        }
    }

    @Test("during a rotation of the keys a retry at another instance gets the stored token")
    func newKey() async throws {
        try await TestServer.run { server in
            try await server.withPeers(1, tokenKeys: [[UInt8](repeating: 9, count: 32), TestServer.tokenKey]) { peers in
                let first = try await server.signUp("nell@example.org")
                let lost = try await server.refresh(first.refreshToken)
                let retried = try await peers[0].refresh(first.refreshToken)
                #expect(retried.refreshToken == lost.refreshToken)
                let next = try await peers[0].refresh(retried.refreshToken)
                #expect(try await peers[0].status(of: next.accessToken) == 403, "signed in, of no family")
            }
        }
    }

    @Test("a refresh token used after its grace ends its session with all its tokens")
    func reuse() async throws {
        try await TestServer.run { server in
            let first = try await server.signUp("nell@example.org")
            let other = try await server.logIn("nell@example.org", password: "correct horse")
            let second = try await server.refresh(first.refreshToken)
            server.clock.advance(by: .seconds(61))
            let statuses = try await server.expectOnly(audit: ["session.revoked"]) {
                try await together(10) { _ in try await refusal { try await server.refresh(first.refreshToken) }.status
                }
            }
            #expect(statuses == Array(repeating: 401, count: 10))
            #expect(try await server.audit(.outside).last?.details == ["reason": "refresh_token_reused"])
            try await expectRefusal(401) { try await server.refresh(second.refreshToken) }
            #expect(try await server.status(of: second.accessToken) == 401)
            #expect(try await server.status(of: other.accessToken) == 403, "another session of the same person stands")
        }
    }

    @Test("unknown, expired and empty refresh tokens are 401 and change nothing")
    func invalid() async throws {
        try await TestServer.run { server in
            let first = try await server.signUp("nell@example.org")
            server.clock.advance(by: Tokens.refreshLifetime)
            for token in [first.refreshToken, Secret("no such token"), Secret("")] {
                let error = try await server.expectOnly { try await refusal { try await server.refresh(token) } }
                #expect(error.status == 401)
            }
        }
    }

    @Test("a session in use lasts longer than its first sixty days")
    func prolonged() async throws {
        try await TestServer.run { server in
            var answer = try await server.signUp("nell@example.org")
            for _ in 0..<3 {
                server.clock.advance(by: .days(59))
                answer = try await server.refresh(answer.refreshToken)
            }
            #expect(try await server.status(of: answer.accessToken) == 403)
        }
    }

    @Test(
        "after a session ended during a hundred refreshes, none of its tokens works",
        arguments: ["log out", "delete"])
    func endedMeanwhile(ending: String) async throws {
        try await TestServer.run { server in
            let first = try await server.signUp("nell@example.org")
            let token = first.accessToken.wireText
            let answers = try await together(100) { number -> AuthResponse? in
                guard number == 40 else { return try? await server.refresh(first.refreshToken) }
                let reply =
                    ending == "delete"
                    ? try await server.call("DELETE", "/api/v1/accounts/\(first.user.id)", token: token)
                    : try await server.call("POST", "/api/v1/auth/logout", token: token)
                #expect(reply.status == (ending == "delete" ? 200 : 204))
                return nil
            }
            let pairs = Set(answers.compactMap { $0 })
            #expect(pairs.count <= 1)
            for pair in pairs.union([first]) {
                #expect(try await server.status(of: pair.accessToken) == 401)
                try await expectRefusal(401) { try await server.refresh(pair.refreshToken) }
            }
            let openSessions = try await server.rows(
                "SELECT s.id FROM sessions s JOIN users u ON u.id = s.user_id AND u.status <> 'deleted' AND s.revoked_at IS NULL"
            )
            #expect(openSessions.isEmpty)
        }
    }

    @Test("refresh tokens are stored as hashes")
    func hashedAtRest() async throws {
        try await TestServer.run { server in
            let first = try await server.signUp("nell@example.org")
            let second = try await server.refresh(first.refreshToken)
            let kept = try await server.rows("SELECT encode(token_hash, 'hex') AS hash FROM refresh_tokens").description
            for token in [first.refreshToken, second.refreshToken] {
                #expect(!kept.contains(token.wireText))
                let hash = Tokens.refreshHash(token.wireText).map {
                    String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
                }
                #expect(kept.contains(hash.joined()))
            }
        }
    }
}

@Suite("Logging out")
struct LogOutTests {
    enum Way: String, CaseIterable { case bearer, refreshToken, both }

    @Test("a logout ends the session at once, and a second one changes nothing", arguments: Way.allCases)
    func ends(way: Way) async throws {
        try await TestServer.run { server in
            let session = try await server.signUp("nell@example.org")
            let other = try await server.logIn("nell@example.org", password: "correct horse")
            let logOut = {
                try await server.call(
                    "POST", "/api/v1/auth/logout", token: way == .refreshToken ? nil : session.accessToken.wireText,
                    body: way == .bearer ? nil : ["refresh_token": .string(session.refreshToken.wireText)])
            }
            #expect(try await server.expectOnly(audit: ["session.revoked"]) { try await logOut() }.status == 204)
            #expect(try await server.status(of: session.accessToken) == 401)
            try await expectRefusal(401) { try await server.refresh(session.refreshToken) }
            #expect(try await server.status(of: other.accessToken) == 403)
            #expect(try await server.expectOnly { try await logOut() }.status == 204)
        }
    }

    @Test("a logout with an expired access token ends its session, and one that another server signed ends nothing")
    func expired() async throws {
        try await TestServer.run { server in
            let session = try await server.signUp("nell@example.org")
            let foreign = Tokens(keys: [[UInt8](repeating: 8, count: 32)])
            let claims = try server.tokens.verify(session.accessToken.wireText, at: server.clock.now())
            let forged = foreign.accessToken(claims, at: server.clock.now())
            server.clock.advance(by: Tokens.accessLifetime)
            #expect(try await server.status(of: session.accessToken) == 401)
            let ignored = try await server.expectOnly {
                try await server.call("POST", "/api/v1/auth/logout", token: forged)
            }
            #expect(ignored.status == 204)
            let reply = try await server.expectOnly(audit: ["session.revoked"]) {
                try await server.call("POST", "/api/v1/auth/logout", token: session.accessToken.wireText)
            }
            #expect(reply.status == 204)
            try await expectRefusal(401) { try await server.refresh(session.refreshToken) }
        }
    }

    @Test("ten logouts at once leave one entry")
    func concurrent() async throws {
        try await TestServer.run { server in
            let session = try await server.signUp("nell@example.org")
            let statuses = try await server.expectOnly(audit: ["session.revoked"]) {
                try await together(10) { _ in
                    try await server.call("POST", "/api/v1/auth/logout", token: session.accessToken.wireText).status
                }
            }
            #expect(Set(statuses) == [204])
        }
    }

    @Test("a logout without a token, or with an unknown one, changes nothing")
    func unknown() async throws {
        try await TestServer.run { server in
            let path = "/api/v1/auth/logout"
            let replies = try await server.expectOnly {
                [
                    try await server.call("POST", path),
                    try await server.call("POST", path, token: "no.such.token"),
                    try await server.call("POST", path, body: ["refresh_token": "no such token"]),
                ]
            }
            #expect(replies.map(\.status) == [204, 204, 204])
        }
    }
}
