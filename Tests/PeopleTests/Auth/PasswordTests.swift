import Contract
import Domain
import Foundation
import HTTPClient
import JSON
import Postgres
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("New passwords and email addresses")
struct PasswordTests {
    private static let reset = "/api/v1/auth/password-reset"

    private static func change(
        _ server: TestServer, _ token: Secret, from old: String, to new: String, headers: [String: String] = [:]
    ) async throws -> Reply {
        try await server.call(
            "POST", "/api/v1/me/password", token: token.wireText,
            body: ["password": .string(old), "new_password": .string(new)], headers: headers)
    }

    private static func use(_ code: String, _ password: String, on server: TestServer) async throws -> Reply {
        try await server.call(
            "POST", reset, body: ["code": .string(code), "new_password": .string(password)])
    }

    private static func isOpen(_ session: AuthResponse, on server: TestServer) async throws -> Bool {
        try await server.call("GET", "/api/v1/me", token: session.accessToken.wireText).status == 200
    }

    /// A code as the command line makes it.
    private static func code(of email: String, on server: TestServer) async throws -> String {
        try await Admins.makePasswordCode(
            databaseURL: server.database.url, keys: try #require(TestServer.auditKeyring), forAnyAccount: email,
            clock: server.clock)
    }

    @Test(
        "a password change needs the old one, keeps this session and ends the others, once for a key")
    func change() async throws {
        try await TestServer.run { server in
            let first = try await server.signUp("nell@example.org")
            let second = try await server.logIn("nell@example.org", password: "correct horse")
            let wrong = try await server.expectOnly(audit: ["sign_in.failed"]) {
                try await Self.change(server, first.accessToken, from: "wrong", to: "battery staple")
            }
            #expect(wrong.status == 422 && wrong.json?["error"]?["details"]?["field"] == "password")
            let short = try await Self.change(server, first.accessToken, from: "correct horse", to: "short")
            #expect(short.status == 422 && short.json?["error"]?["details"]?["field"] == "new_password")
            for _ in 0..<2 {
                let changed = try await Self.change(
                    server, first.accessToken, from: "correct horse", to: "battery staple",
                    headers: ["Idempotency-Key": "k"])
                #expect(changed.status == 204)
            }
            #expect(try await Self.isOpen(first, on: server))
            #expect(try await !Self.isOpen(second, on: server))
            try await expectRefusal(401) { try await server.logIn("nell@example.org", password: "correct horse") }
            _ = try await server.logIn("nell@example.org", password: "battery staple")
            let entry = try #require(try await server.audit(.outside).last { $0.kind == "password.changed" })
            #expect(entry.details == ["method": "password"] && entry.actor == entry.subject)
        }
    }

    @Test("a code of the command line sets a password once, ends all sessions, and expires after thirty minutes")
    func code() async throws {
        try await TestServer.run { server in
            let account = try await server.signUp("nell@example.org")
            try await server.call("POST", "/api/v1/families", token: account.accessToken.wireText, body: ["name": "N"])
            let late = try await Self.code(of: "nell@example.org", on: server)
            server.clock.advance(by: AccountCodes.lifetime)
            #expect(try await Self.use(late, "battery staple", on: server).status == 422)
            let code = try await Self.code(of: " Nell@Example.org", on: server)
            let spare = try await Self.code(of: "nell@example.org", on: server)
            #expect(
                try await Self.use(
                    String(code.dropLast()) + (code.hasSuffix("A") ? "B" : "A"), "battery staple", on: server
                ).status == 422)
            let short = try await Self.use(code, "short", on: server)
            #expect(short.status == 422 && short.json?["error"]?["details"]?["field"] == "new_password")
            let used = try await server.expectOnly(audit: ["password.changed"]) {
                try await Self.use(code.lowercased().replacing("-", with: " "), "battery staple", on: server)
            }
            #expect(used.status == 204)
            #expect(try await !Self.isOpen(account, on: server))
            for one in [code, spare] {
                #expect(
                    try await server.expectOnly { try await Self.use(one, "third password", on: server) }.status == 422)
            }
            _ = try await server.logIn("nell@example.org", password: "battery staple")
            #expect(try await server.rows("SELECT 1 AS n FROM account_codes").isEmpty)
        }
    }

    @Test("of several uses of a code at once one sets the password")
    func atOnce() async throws {
        try await TestServer.run { server in
            try await server.signUp("nell@example.org")
            let code = try await Self.code(of: "nell@example.org", on: server)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<4 {
                    group.addTask { try await Self.use(code, "battery staple \(number)", on: server).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [204, 422, 422, 422])
        }
    }

    @Test("during the use of a code no sign-in with the old password begins a session after it")
    func meanwhile() async throws {
        try await TestServer.run { server in
            for round in 0..<10 {
                let email = "nell\(round)@example.org"
                try await server.signUp(email)
                let code = try await Self.code(of: email, on: server)
                let before = try await server.audit(.outside).count
                _ = try await together(5) { number in
                    if number == round % 5 {
                        let used = try await Self.use(code, "battery staple", on: server)
                        #expect(used.status == 204)
                    } else {
                        _ = try? await server.logIn(email, password: "correct horse")
                    }
                }
                let kinds = try await server.audit(.outside).dropFirst(before).map(\.kind)
                #expect(kinds.drop { $0 != "password.changed" }.allSatisfy { $0 != "session.opened" }, "\(kinds)")
            }
            #expect(try await server.rows("SELECT id FROM sessions WHERE revoked_at IS NULL").isEmpty)
        }
    }

    @Test("a sign-in that checked the old password begins no session after the new one was set")
    func race() async throws {
        try await TestServer.run { server in
            try await server.signUp("nell@example.org")
            let late = try await server.database.run { database in
                try await database.transaction { transaction in
                    // The password's hash is read, then the try waits to be counted.
                    _ = try await transaction.query("LOCK TABLE sign_in_attempts IN EXCLUSIVE MODE")
                    let late = Task { try await server.logIn("nell@example.org", password: "correct horse") }
                    try await transaction.waitUntilBlocking("the sign-in never came to count its try")
                    let now = server.clock.now()
                    _ = try await transaction.query(
                        "UPDATE users SET password_set_at = \(now) WHERE email = 'nell@example.org'")
                    return late
                }
            }
            try await expectRefusal(401) { try await late.value }
            let kinds = try await server.audit(.outside).map(\.kind)
            #expect(kinds == ["account.created", "sign_in.failed"])
        }
    }

    @Test("an administrator's new password must be as strong as the first, and no mail resets it")
    func administrators() async throws {
        try await TestServer.run { server in
            let admin = try await server.admin()
            let email = try #require(admin.email)
            try await server.setPasswords()
            let asked = try await server.expectOnly(audit: ["password_reset.requested"]) {
                try await server.call("POST", "/api/v1/auth/password-resets", body: ["email": .string(email)])
            }
            #expect(asked.status == 202)
            #expect(try await server.rows("SELECT 1 AS n FROM account_codes").isEmpty)
            let code = try await Self.code(of: email, on: server)
            let weak = try await Self.use(code, "battery staple", on: server)
            #expect(
                weak.status == 422 && weak.json?["error"]?["message"]?.stringValue?.contains("16 characters") == true)
            #expect(try await Self.use(code, "battery staple 0123456789", on: server).status == 204)
        }
    }

    // MARK: Mails

    @Test("a forgotten password gets a code by mail, and an address without an account the same answer and no mail")
    func forgotten() async throws {
        try await TestServer.runWithMail { server, mails in
            try await server.signUp("nell@example.org")
            func ask(_ email: String) async throws -> Reply {
                try await server.expectOnly(audit: ["password_reset.requested"]) {
                    try await server.call("POST", "/api/v1/auth/password-resets", body: ["email": .string(email)])
                }
            }
            let unknown = try await ask("null@example.org")
            let known = try await ask("NELL@example.org")
            #expect(unknown.status == 202 && unknown.body == known.body)
            let mail = try #require(try await mails(1).first)
            #expect(mail.to == ["nell@example.org"] && mail.from == "nagz@example.org")
            let code = try #require(mail.code)
            #expect(mail.text.contains("https://nagz.example.org/reset-password#\(code.replacing("-", with: ""))"))
            // Three within a quarter of an hour, then the answer stays the same and no more are sent.
            for _ in 0..<4 { #expect(try await ask("nell@example.org").body == known.body) }
            #expect(try await server.rows("SELECT 1 AS n FROM account_codes").count == 3)
            #expect(try await Self.use(code, "battery staple", on: server).status == 204)
            #expect(try await mails(4).last?.text.contains("Subject: Your password for Nagz was changed") == true)
        }
    }

    @Test("a new address is confirmed by the code sent to it, by its own account alone, and the old one is notified")
    func address() async throws {
        try await TestServer.runWithMail { server, mails in
            let account = try await server.signUp("nell@example.org")
            let other = try await server.signUp("otto@example.org")
            func ask(_ email: String, password: String = "correct horse") async throws -> Reply {
                try await server.call(
                    "POST", "/api/v1/me/email", token: account.accessToken.wireText,
                    body: ["password": .string(password), "email": .string(email)])
            }
            #expect(try await ask("new@example.org", password: "wrong").status == 422)
            #expect(try await ask("otto@example.org").status == 409)
            for _ in 0..<2 {
                let asked = try await server.call(
                    "POST", "/api/v1/me/email", token: account.accessToken.wireText,
                    body: ["password": "correct horse", "email": "new@example.org"], headers: ["Idempotency-Key": "ask"]
                )
                #expect(asked.status == 202)
            }
            let code = try #require(try await mails(1).first?.code)
            func confirm(_ session: AuthResponse, _ headers: [String: String] = [:]) async throws -> Reply {
                try await server.call(
                    "POST", "/api/v1/me/email/confirmation", token: session.accessToken.wireText,
                    body: ["code": .string(code)], headers: headers)
            }
            #expect(try await confirm(other).status == 422)
            #expect(try await Self.use(code, "battery staple", on: server).status == 422, "a code has one purpose")
            let confirmed = try await server.expectOnly(audit: ["email.changed"]) {
                try await confirm(account, ["Idempotency-Key": "confirm"])
            }
            #expect(try await confirm(account, ["Idempotency-Key": "confirm"]).body == confirmed.body)
            #expect(confirmed.status == 200 && confirmed.json?["email"] == "new@example.org")
            #expect(try await confirm(account).status == 422)
            // Neither retry has sent a mail.
            let all = try await mails(2)
            let told = try #require(all.last)
            #expect(all.count == 2 && told.to == ["nell@example.org"] && told.text.contains("no longer with this one"))
            try await expectRefusal(401) { try await server.logIn("nell@example.org", password: "correct horse") }
            _ = try await server.logIn("new@example.org", password: "correct horse")
        }
    }

    @Test("requests with one key at once send one code to a new address, and one notice of the change to the old one")
    func addressAtOnce() async throws {
        try await TestServer.runWithMail { server, mails in
            let account = try await server.signUp("nell@example.org")
            func post(_ path: String, _ body: JSONValue) async throws -> [Int] {
                try await together(3) { _ in
                    try await server.call(
                        "POST", "/api/v1/me/\(path)", token: account.accessToken.wireText, body: body,
                        headers: ["Idempotency-Key": path]
                    ).status
                }
            }
            let asked = try await post("email", ["password": "correct horse", "email": "new@example.org"])
            #expect(asked == [202, 202, 202])
            let code = try #require(try await mails(1).first?.code)
            #expect(try await post("email/confirmation", ["code": .string(code)]) == [200, 200, 200])
            // Mails leave in their order: the last one comes after all that the requests have sent.
            let asks = try await server.call(
                "POST", "/api/v1/auth/password-resets", body: ["email": "new@example.org"])
            #expect(asks.status == 202)
            let sent = try await mails(3)
            #expect(sent.map(\.to) == [["new@example.org"], ["nell@example.org"], ["new@example.org"]])
        }
    }

    @Test("without a way to send mails a reset and a new address are refused with the reason")
    func noMail() async throws {
        try await TestServer.run(configure: { $0.mail = nil }) { server in
            let account = try await server.signUp("nell@example.org")
            let replies = [
                try await server.call("POST", "/api/v1/auth/password-resets", body: ["email": "nell@example.org"]),
                try await server.call(
                    "POST", "/api/v1/me/email", token: account.accessToken.wireText,
                    body: ["password": "correct horse", "email": "new@example.org"]),
            ]
            for reply in replies {
                #expect(reply.status == 409 && reply.json?["error"]?["details"]?["reason"] == "mail_not_configured")
            }
        }
    }
}
