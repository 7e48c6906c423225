import Contract
import Domain
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Access tokens")
struct AccessTokenTests {
    @Test(
        "a signed token without a session is no sign-in, whether or not development tokens are accepted",
        arguments: [false, true])
    func nilSession(acceptsDevelopmentTokens: Bool) async throws {
        try await TestServer.run(configure: { $0.acceptsDevelopmentTokens = acceptsDevelopmentTokens }) { server in
            let family = try await server.family()
            let forged = server.tokens.accessToken(
                Tokens.Claims(user: family.guardian.id, session: SessionID(high: 0, low: 0)), at: server.clock.now())
            #expect(try await server.status(of: Secret(forged), family.id) == 401)
            let development = Secret("dev:\(family.guardian.id)")
            #expect(try await server.status(of: development, family.id) == (acceptsDevelopmentTokens ? 200 : 401))
        }
    }

    @Test("a development token has no session that a logout or the feed could write")
    func developmentToken() async throws {
        try await TestServer.run(configure: { $0.acceptsDevelopmentTokens = true }) { server in
            let family = try await server.family()
            let token = "dev:\(family.guardian.id)"
            try await server.expectOnly {
                #expect(try await server.call("POST", "/api/v1/auth/logout", token: token).status == 204)
                let feed = try await server.call("GET", "/api/v1/sync/events?family_id=\(family.id)", token: token)
                #expect(feed.status == 200)
            }
            try await server.deleteAccount(of: family.participant)
            #expect(try await server.status(of: Secret("dev:\(family.participant.id)"), family.id) == 401)
        }
    }

    /// Unicode calls them equal, and so does `String`.
    private static let kelvin = "\u{212A}"

    @Test("a verified token is recognized by its exact bytes only")
    func canonicalEquivalence() throws {
        let tokens = Tokens(keys: [TestServer.tokenKey])
        let verified = VerifiedTokens(tokens)
        var (token, number) = ("", UInt64(0))
        while !token.contains("K") {
            number += 1
            let claims = Tokens.Claims(user: UserID(high: 1, low: number), session: SessionID(high: 2, low: number))
            token = tokens.accessToken(claims, at: ManualClock.start)
        }
        _ = try verified.verify(token, at: ManualClock.start)
        let forged = token.replacing("K", with: Self.kelvin)
        #expect(forged == token, "or there is nothing to try")
        #expect(throws: APIError.self) { try verified.verify(forged, at: ManualClock.start) }
        #expect(throws: APIError.self) { try tokens.verify(forged, at: ManualClock.start) }
        _ = try verified.verify(token, at: ManualClock.start)
    }

    @Test("a token with a changed, missing or added part is refused")
    func tampering() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let token = server.token(family.guardian)
            let parts = token.split(separator: ".").map(String.init)
            let other = server.token(family.stranger).split(separator: ".").map(String.init)
            let none = base64URL(Array(#"{"alg":"none","typ":"at+jwt"}"#.utf8))
            let forged = [
                "\(none).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])", "\(parts[0]).\(other[1]).\(parts[2])",
                "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).", "\(token).", ".\(token)", "\(token)=",
                token + "A",
                String(token.dropLast()), token.uppercased(), "\(parts[0])..\(parts[2])",
                "\(parts[0]).\(parts[1]).\(parts[2]).\(parts[2])", "dev:", "dev:\(family.guardian.id)",
            ]
            for forged in forged {
                #expect(try await server.status(of: Secret(forged), family.id) == 401, "\(forged)")
            }
            #expect(try await server.status(of: Secret(token), family.id) == 200)
        }
    }

    @Test("a token with bytes beyond ASCII is refused by the server as well")
    func notASCII() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let token = server.token(family.guardian)
            #expect(try await server.status(of: Secret(token), family.id) == 200)
            for forged in [token.replacing("K", with: Self.kelvin) + Self.kelvin, token + "\u{301}"] {
                #expect(try await server.status(of: Secret(forged), family.id) == 401)
            }
        }
    }
}
