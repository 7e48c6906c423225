import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Device secrets")
struct DeviceSecretTests {
    /// Believes the tests about where a request comes from.
    private static let behindProxy: @Sendable (inout Configuration) -> Void = { configuration in
        try? configuration.trust(proxies: ["127.0.0.1"])
    }

    private static func logIn(
        _ server: TestServer, _ email: String = "nell@example.org", password: String = "correct horse",
        with secret: String? = nil, from address: String = "203.0.113.9"
    ) async throws -> Reply {
        var body: JSONObject = ["email": .string(email), "password": .string(password)]
        body["device_secret"] = secret.map { .string($0) }
        return try await server.call(
            "POST", "/api/v1/auth/login", body: .object(body), headers: ["X-Forwarded-For": address])
    }

    private static func flood(_ server: TestServer) async throws {
        for number in 0..<110 {
            _ = try await logIn(server, password: "wrong", from: "198.51.100.\(number)")
        }
    }

    private static func secret(_ answer: Reply) throws -> String {
        try #require(answer.json?["device_secret"]?.stringValue)
    }

    private static func stored(_ server: TestServer) async throws -> Int {
        try await server.rows("SELECT secret_hash FROM device_secrets").count
    }

    @Test("while strangers flood an address, its owner signs in from a new network address only with the device secret")
    func flooded() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            let secret = try #require(try await server.signUp("nell@example.org").deviceSecret).wireText
            try await Self.flood(server)
            #expect(try await Self.logIn(server).status == 429)
            for number in 0..<3 {
                let answer = try await Self.logIn(server, with: secret, from: "203.0.113.\(number)")
                #expect(answer.status == 200)
                #expect(try Self.secret(answer) == secret)
            }
            #expect(try await Self.stored(server) == 1)
            // Her own success gives the strangers no new attempts.
            #expect(try await Self.logIn(server, password: "wrong", from: "198.51.100.200").status == 429)
        }
    }

    @Test("another account's device secret and an invented one count as none, and use up no limit of that account")
    func worthless() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            let own = try #require(try await server.signUp("nell@example.org").deviceSecret).wireText
            let other = try #require(try await server.signUp("mallory@example.org").deviceSecret).wireText
            let unlike = try await Self.logIn(server, password: "wrong", with: other)
            let none = try await Self.logIn(server, password: "wrong")
            #expect(unlike.status == 401 && unlike.json?["error"]?["message"] == none.json?["error"]?["message"])
            // With either the limit of account and address holds; ten attempts would use up that of a device.
            for _ in 0..<10 {
                #expect(
                    try await Self.logIn(server, password: "wrong", with: other, from: "203.0.113.1").status == 401)
            }
            for secret in [other, "made up"] {
                #expect(
                    try await Self.logIn(server, password: "wrong", with: secret, from: "203.0.113.1").status == 429)
            }
            try await Self.flood(server)
            for secret in [other, "made up", String(repeating: "é", count: 200)] {
                #expect(try await Self.logIn(server, with: secret).status == 429)
            }
            #expect(try await Self.logIn(server, with: own).status == 200, "only those secrets are worthless")
            #expect(try await Self.logIn(server, "mallory@example.org", with: other, from: "203.0.113.2").status == 200)
            for secret in ["", String(repeating: "x", count: 201), "a\u{0}"] {
                #expect(try await Self.logIn(server, with: secret).status == 422)
            }
        }
    }

    @Test("a stolen device secret allows ten guesses, and one each ninety seconds, from any number of addresses")
    func stolen() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            let secret = try #require(try await server.signUp("nell@example.org").deviceSecret).wireText
            let statuses = try await together(100) { number in
                try await Self.logIn(server, password: "wrong", with: secret, from: "198.51.100.\(number)").status
            }
            #expect(statuses.count { $0 == 401 } == 10 && statuses.count { $0 == 429 } == 90)
            #expect(try await server.audit(.outside).count { $0.kind == "sign_in.failed" } == 10, "hashed ten")
            // They have used up nothing of the account's: without the secret it is open.
            #expect(try await Self.logIn(server).status == 200)
            let refused = try await Self.logIn(server, with: secret)
            #expect(refused.status == 429 && refused.header("retry-after") == "90")
            server.clock.advance(by: .seconds(90))
            #expect(try await Self.logIn(server, password: "wrong", with: secret).status == 401)
            #expect(try await Self.logIn(server, with: secret).status == 429)
            server.clock.advance(by: .seconds(90))
            #expect(try await Self.logIn(server, with: secret).status == 200, "and the right password resets the count")
            for _ in 0..<10 {
                #expect(try await Self.logIn(server, password: "wrong", with: secret).status == 401)
            }
        }
    }

    @Test("a used-up limit allows one attempt after each interval, and is whole again after fifteen minutes")
    func intervals() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            try await server.signUp("nell@example.org")
            try await Self.flood(server)
            let refused = try await Self.logIn(server)
            #expect(refused.status == 429 && refused.header("retry-after") == "9")
            for _ in 0..<3 {
                server.clock.advance(by: .seconds(9))
                #expect(try await Self.logIn(server, password: "wrong").status == 401)
                #expect(try await Self.logIn(server, password: "wrong").header("retry-after") == "9")
            }
            server.clock.advance(by: .seconds(9))
            #expect(try await Self.logIn(server).status == 200, "the owner waits nine seconds")
            server.clock.advance(by: .minutes(15))
            var looked = 0
            for number in 0..<110
            where try await Self.logIn(server, password: "wrong", from: "198.51.101.\(number)").status == 401 {
                looked += 1
            }
            #expect(looked == 100)
        }
    }

    @Test("a device secret is stored as a digest, and only sign-up and sign-in with a password answer with one")
    func answers() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let answer = try await server.signUp("nell@example.org")
            let secret = try #require(answer.deviceSecret).wireText
            #expect(secret.utf8.count == 43)
            let child = try await server.childLogIn(family.childCode, "Cleo", "4711")
            let renewed = try await server.call(
                "POST", "/api/v1/auth/refresh", body: ["refresh_token": .string(answer.refreshToken.wireText)])
            #expect(child.deviceSecret == nil && renewed.json?["device_secret"] == .null && renewed.status == 200)
            let kept = try await server.rows("SELECT encode(secret_hash, 'hex') AS hash FROM device_secrets")
            #expect(kept.count == 1 && kept[0]["hash"] == .string(hexadecimalDigest(secret)))
        }
    }

    private func hexadecimalDigest(_ secret: String) -> String {
        DeviceSecrets.hash(Secret(secret)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("other devices' secrets end when the owner ends their sessions or the password is changed")
    func ends() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            let phone = try await server.signUp("nell@example.org")
            let phoneSecret = try #require(phone.deviceSecret).wireText
            func another() async throws -> (token: String, secret: String) {
                let answer = try await Self.logIn(server)
                return (try #require(answer.json?["access_token"]?.stringValue), try Self.secret(answer))
            }
            func isGood(_ secret: String) async throws -> Bool {
                try await Self.secret(Self.logIn(server, with: secret)) == secret
            }
            let (laptop, laptopSecret) = try await another()
            let ended = try await server.call("DELETE", "/api/v1/me/sessions", token: laptop)
            #expect(ended.status == 204)
            #expect(try await isGood(laptopSecret))
            #expect(try await !isGood(phoneSecret))

            let (tablet, tabletSecret) = try await another()
            let changed = try await server.call(
                "POST", "/api/v1/me/password", token: tablet,
                body: ["password": "correct horse", "new_password": "correct horse"])
            #expect(changed.status == 204)
            #expect(try await isGood(tabletSecret))
            #expect(try await !isGood(laptopSecret))

            let sessions = try await server.call("GET", "/api/v1/me/sessions", token: tablet).json?["items"]
            for session in sessions?.arrayValue ?? [] where session["is_current"] == false {
                let id = try #require(session["id"]?.stringValue)
                #expect(try await server.call("DELETE", "/api/v1/me/sessions/\(id)", token: tablet).status == 204)
            }
            // The tablet's secret went with the session that it began last.
            #expect(try await Self.stored(server) == 0)
        }
    }

    @Test("a device secret survives a logout and a password reset, but not a deletion or a year without use")
    func life() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            let first = try await server.signUp("nell@example.org")
            let secret = try #require(first.deviceSecret).wireText
            try await server.call(API.logOut, RefreshRequest(refreshToken: first.refreshToken))
            server.clock.advance(by: .days(364))
            #expect(try await Self.secret(Self.logIn(server, with: secret)) == secret)
            let code = try await Admins.makePasswordCode(
                databaseURL: server.database.url, keys: try #require(TestServer.auditKeyring),
                forAnyAccount: "nell@example.org", clock: server.clock)
            let set = try await server.call(
                "POST", "/api/v1/auth/password-reset",
                body: ["code": .string(code), "new_password": "battery staple"])
            #expect(set.status == 204)
            server.clock.advance(by: .days(364))
            let last = try await Self.logIn(server, password: "battery staple", with: secret)
            #expect(try Self.secret(last) == secret)
            server.clock.advance(by: .days(365))
            let late = try await Self.logIn(server, password: "battery staple", with: secret)
            #expect(try Self.secret(late) != secret)
            let now = server.clock.now()
            _ = try await server.database.run { try await Housekeeping.applyRetention($0, at: now) }
            #expect(try await Self.stored(server) == 1)
            let token = try #require(late.json?["access_token"]?.stringValue)
            let id = try #require(late.json?["user"]?["id"]?.stringValue)
            #expect(try await server.call("DELETE", "/api/v1/accounts/\(id)", token: token).status == 200)
            #expect(try await Self.stored(server) == 0)
        }
    }

    @Test("an account has twenty device secrets, and those that were used stay")
    func limit() async throws {
        try await TestServer.run(configure: Self.behindProxy) { server in
            let secret = try #require(try await server.signUp("nell@example.org").deviceSecret).wireText
            server.clock.advance(by: .seconds(1))
            _ = try await Self.logIn(server, with: secret)
            for _ in 0..<25 {
                server.clock.advance(by: .seconds(1))
                #expect(try await Self.logIn(server).status == 200)
            }
            #expect(try await Self.stored(server) == 20)
            #expect(try await Self.secret(Self.logIn(server, with: secret)) == secret)
        }
    }
}
