import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Signing in with email and password")
struct LogInTests {
    @Test("a sign-in answers with the person and their family")
    func success() async throws {
        try await TestServer.run { server in
            let account = try await server.signUp("nell@example.org", name: "Nell")
            let family = try await server.call(
                "POST", "/api/v1/families", token: account.accessToken.wireText, body: ["name": "Nells"])
            let id = try #require(family.json?["family_id"]?.stringValue.flatMap { FamilyID($0) })
            let answer = try await server.expectOnly(audit: ["session.opened"]) {
                try await server.logIn("NELL@example.org", password: "correct horse")
            }
            #expect(answer.user.id == account.user.id)
            #expect(answer.user.familyMemberships == [FamilyMembership(familyID: id, role: .guardian)])
            #expect(answer.familyID == id)
            #expect(answer.familyRole == .guardian)
            #expect(answer.refreshToken != account.refreshToken)
            #expect(try await server.status(of: answer.accessToken, id) == 200)
            #expect(try await server.audit(id).map(\.kind) == ["family.created", "session.opened"])
        }
    }

    @Test("a password is accepted in any Unicode composition, and a different one is refused")
    func composition() async throws {
        try await TestServer.run { server in
            try await server.signUp("nell@example.org", password: "Zoe\u{308} \u{FB01}fth horse")
            for typed in ["Zo\u{EB} fifth horse", "Zoe\u{308} fifth horse", "\u{FF3A}o\u{EB} fifth horse"] {
                _ = try await server.logIn("nell@example.org", password: typed)
            }
            for other in ["Zoe fifth horse", "zo\u{EB} fifth horse"] {
                try await expectRefusal(401) { try await server.logIn("nell@example.org", password: other) }
            }
        }
    }

    @Test("a hash of the bytes as typed is accepted, and replaced by one of the normal form")
    func oldHash() async throws {
        try await TestServer.run { server in
            let account = try await server.signUp("nell@example.org")
            let typed = "Zoe\u{308} fifth horse"
            let old = try #require(PasswordHashing.hash(bytesOf: typed, .testing))
            try await server.sql("UPDATE users SET password_hash = \(old) WHERE id = \(account.user.id)")
            let composed = "Zo\u{EB} fifth horse"
            try await expectRefusal(401) { try await server.logIn("nell@example.org", password: composed) }
            _ = try await server.logIn("nell@example.org", password: typed)
            let kept = try await server.rows("SELECT password_hash FROM users WHERE id = \(account.user.id)")
            #expect(kept.first?["password_hash"]?.stringValue != old)
            for password in [typed, composed] { _ = try await server.logIn("nell@example.org", password: password) }
        }
    }

    @Test("an unknown email and a wrong password get the same answer")
    func sameRefusal() async throws {
        try await TestServer.run { server in
            try await server.signUp("nell@example.org")
            let wrong = try await server.expectOnly(audit: ["sign_in.failed"]) {
                try await server.call(
                    "POST", "/api/v1/auth/login", body: ["email": "nell@example.org", "password": "wrong"])
            }
            let unknown = try await server.expectOnly(audit: ["sign_in.failed"]) {
                try await server.call(
                    "POST", "/api/v1/auth/login", body: ["email": "null@example.org", "password": "wrong"])
            }
            #expect(wrong.status == 401)
            #expect(unknown.status == 401)
            #expect(wrong.json?["error"]?["message"] == unknown.json?["error"]?["message"])
            #expect(wrong.errorCode == unknown.errorCode)
            let entries = try await server.audit(.outside).filter { $0.kind == "sign_in.failed" }
            #expect(entries.map { $0.subject == nil } == [false, true])
            #expect(entries.allSatisfy { $0.details == ["method": "password"] && $0.actor == SystemActor.guest })
        }
    }

    @Test("a deleted account cannot sign in, refresh or use its tokens")
    func deleted() async throws {
        try await TestServer.run { server in
            let account = try await server.signUp("nell@example.org")
            try await server.sql(
                """
                UPDATE users SET status = 'deleted', pseudonym = NULL, deleted_at = now() WHERE id = \(account.user.id)
                """
            )
            try await expectRefusal(401) { try await server.logIn("nell@example.org", password: "correct horse") }
            #expect(try await server.status(of: account.accessToken) == 401)
            let refresh = RefreshRequest(refreshToken: account.refreshToken)
            try await expectRefusal(401) { try await server.call(API.refreshSession, refresh) }
            try await server.expectOnly { try await server.call(API.logOut, refresh) }
        }
    }

    @Test("after ten wrong passwords of an address, each further attempt there waits up to ninety seconds")
    func accountLimit() async throws {
        try await TestServer.run { server in
            try await server.signUp("nell@example.org")
            for _ in 0..<10 {
                try await expectRefusal(401) { try await server.logIn("nell@example.org", password: "wrong") }
            }
            let refused = try await server.expectOnly {
                try await refusal { try await server.logIn("nell@example.org", password: "correct horse") }
            }
            #expect(refused.status == 429)
            #expect(refused.retryAfter == 90)
            server.clock.advance(by: .seconds(89))
            let last = try await expectRefusal(429) {
                try await server.logIn("nell@example.org", password: "correct horse")
            }
            #expect(last.retryAfter == 1)
            server.clock.advance(by: .seconds(1))
            #expect(
                try await server.logIn("nell@example.org", password: "correct horse").user.email == "nell@example.org")
        }
    }

    @Test("the right password resets the account's count")
    func reset() async throws {
        try await TestServer.run { server in
            try await server.signUp("nell@example.org")
            for _ in 0..<3 {
                for _ in 0..<9 {
                    try await expectRefusal(401) { try await server.logIn("nell@example.org", password: "wrong") }
                }
                _ = try await server.logIn("nell@example.org", password: "correct horse")
            }
        }
    }

    @Test("an address may fail fifty times over all accounts, and an account known there is not delayed by it")
    func addressLimit() async throws {
        try await TestServer.run { server in
            try await server.signUp("nell@example.org")
            for number in 0..<50 {
                let error = try await refusal {
                    try await server.logIn("guess\(number)@example.org", password: "wrong")
                }
                #expect(error.status == 401)
                if number < 20 { _ = try await server.logIn("nell@example.org", password: "correct horse") }
            }
            let error = try await refusal { try await server.logIn("guess50@example.org", password: "wrong") }
            #expect(error.status == 429)
            _ = try await server.logIn("nell@example.org", password: "correct horse")
        }
    }

    @Test("of a hundred sign-ins at once ten passwords at most are checked")
    func burst() async throws {
        try await TestServer.run { server in
            try await server.signUp("nell@example.org")
            let statuses = try await together(100) { _ in
                try await refusal { try await server.logIn("nell@example.org", password: "wrong") }.status
            }
            #expect(statuses.count { $0 == 401 } <= 10)
            #expect(statuses.allSatisfy { $0 == 401 || $0 == 429 })
            #expect(try await server.audit(.outside).count { $0.kind == "sign_in.failed" } <= 10)
        }
    }
}
