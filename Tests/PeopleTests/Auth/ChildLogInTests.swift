import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Signing in as a child")
struct ChildLogInTests {
    @Test("a child signs in with the family code and name in any case and spacing")
    func success() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let answer = try await server.expectOnly(audit: ["session.opened"]) {
                try await server.childLogIn(family.childCode.lowercased(), "  cLEO ", "4711")
            }
            #expect(answer.user.id == family.child.id)
            let spaced = family.childCode.prefix(3) + "-" + family.childCode.dropFirst(3) + " "
            #expect(try await server.childLogIn(String(spaced), "Cleo", "۴۷ ۱۱").user.id == family.child.id)
            #expect(answer.user.email == nil)
            #expect(answer.familyID == family.id)
            #expect(answer.familyRole == .child)
            #expect(try await server.status(of: answer.accessToken, family.id) == 200)
            #expect(try await server.audit(family.id).last?.details == ["method": "child_code"])
            let kept = try await server.rows("SELECT is_child FROM sessions WHERE user_id = \(family.child.id)")
            #expect(kept.allSatisfy { $0["is_child"] == true })
        }
    }

    @Test("a child's name is the same in any case of any script, and no two children have the same")
    func folding() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family, username: "Straße Οδυσσεύς")
            for name in ["STRASSE ΟΔΥΣΣΕΎΣ", "straße οδυσσεύς", "strasse οδυσσεύσ"] {
                #expect(try await server.childLogIn(family.childCode, name, "4711").user.id == family.child.id)
            }
            try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Strase Οδυσσεύς", "4711") }
            let sibling = try await server.member("Sid", .child, of: family)
            func name(_ username: String) async throws {
                try await server.call(
                    API.setChildCredentials, MemberPath(familyID: family.id, userID: sibling.id),
                    ChildCredentialsSet(username: username, pin: try PIN(wireText: "0815")), as: family.guardian)
            }
            try await expectRefusal(409) { try await name("STRASSE ΟΔΥΣΣΕΎΣ") }
            // Of two names that were set before, each child signs in with its own.
            try await name("Sid")
            try await server.sql(
                "UPDATE child_credentials SET username = 'strasse οδυσσεύς' WHERE user_id = \(sibling.id)")
            #expect(try await server.childLogIn(family.childCode, "STRASSE ΟΔΥΣΣΕΎΣ", "0815").user.id == sibling.id)
            #expect(try await server.childLogIn(family.childCode, "Straße Οδυσσεύς", "4711").user.id == family.child.id)
        }
    }

    @Test("a wrong family code, name or PIN gets the same answer")
    func refusals() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let wrong = [
                (family.childCode, "Cleo", "0000"), (family.childCode, "Cleon", "4711"), ("ZZZZZZ", "Cleo", "4711"),
                (family.inviteCode.prefix(8).description, "Cleo", "4711"),
            ]
            var errors: Set<APIError> = []
            for (code, name, pin) in wrong {
                let error = try await server.expectOnly(audit: ["sign_in.failed"]) {
                    try await refusal { try await server.childLogIn(code, name, pin) }
                }
                errors.insert(error)
            }
            #expect(errors.count == 1)
            #expect(errors.first?.status == 401)
        }
    }

    @Test("five wrong PINs lock a child out for 15 minutes, whatever the case of code and name")
    func limit() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let spellings = ["Cleo", "cleo", "CLEO", " Cleo", "cLeO"]
            for name in spellings {
                try await expectRefusal(401) { try await server.childLogIn(family.childCode, name, "0000") }
            }
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.kind == "child_lockout.begun" && entry.subject == family.child.pseudonym)
            let end = (server.clock.now() + .minutes(15)).rfc3339
            #expect(entry.details == ["method": "child_code", "until": end])
            let error = try await server.expectOnly {
                try await refusal { try await server.childLogIn(family.childCode.lowercased(), "Cleo", "4711") }
            }
            #expect(error.status == 429)
            #expect(error.retryAfter == 900)
            server.clock.advance(by: .minutes(15))
            _ = try await server.childLogIn(family.childCode, "Cleo", "4711")
            for _ in 0..<4 {
                try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Cleo", "0000") }
            }
            _ = try await server.childLogIn(family.childCode, "Cleo", "4711")
            try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Cleo", "0000") }
        }
    }

    @Test(
        "of a hundred PINs at once five are checked, of a child and of an unknown name",
        arguments: ["Cleo", "Nemo"])
    func burst(name: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let statuses = try await together(100) { number in
                try await refusal { try await server.childLogIn(family.childCode, name, "\(1000 + number)") }.status
            }
            #expect(statuses.count { $0 == 401 } == 5)
            #expect(statuses.count { $0 == 429 } == 95)
            let failures = try await server.audit(family.id) + server.audit(.outside)
            #expect(failures.count { $0.kind == "sign_in.failed" || $0.kind == "child_lockout.begun" } == 5)
        }
    }

    @Test("when a PIN is renewed during sign-ins with the old one, none begins a session after it")
    func newPINMeanwhile() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for round in 0..<12 {
                try await server.setPIN(family, pin: "4711")
                let before = try await server.audit(family.id).count
                _ = try await together(5) { number in
                    if number == round % 5 {
                        try await server.setPIN(family, pin: "9173")
                    } else {
                        _ = try? await server.childLogIn(family.childCode, "Cleo", "4711")
                    }
                }
                let kinds = try await server.audit(family.id).dropFirst(before).map(\.kind)
                #expect(kinds.drop { $0 != "child_credentials.set" }.allSatisfy { $0 != "session.opened" }, "\(kinds)")
            }
            let openSessions = try await server.rows(
                """
                SELECT id FROM sessions WHERE user_id = \(family.child.id) AND is_child AND revoked_at IS NULL
                """)
            #expect(openSessions.isEmpty)
        }
    }

    @Test("a child that has left cannot sign in")
    func removed() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            try await server.sql(
                "UPDATE memberships SET status = 'removed', removed_at = now() WHERE user_id = \(family.child.id)")
            try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Cleo", "4711") }
        }
    }
}

@Suite("Secrets of a sign-in")
struct SecretsTests {
    @Test("no password, PIN, token, email or name is in the log or the audit log")
    func canary() async throws {
        try await TestServer.run(configure: { $0.logLevel = .info }) { server in
            let family = try await server.family()
            let account = try await server.signUp(
                "canary@example.org", password: "canary-password", name: "canary-name")
            _ = try? await server.logIn("canary@example.org", password: "canary-wrong")
            _ = try await server.refresh(account.refreshToken)
            try await server.setPIN(family, username: "canary-child", pin: "9173")
            _ = try? await server.childLogIn(family.childCode, "canary-child", "8264")
            _ = try await server.childLogIn(family.childCode, "canary-child", "9173")
            server.clock.advance(by: .seconds(61))
            _ = try? await server.refresh(account.refreshToken)
            let auditLog = try await server.audit(.outside) + server.audit(family.id)
            #expect(auditLog.count >= 6)
            let written = auditLog.map { "\($0)" } + server.log.lines
            // Four digits may stand in any id: a PIN is looked for as a whole value.
            for secret in [
                "canary", #""9173""#, #""8264""#, account.refreshToken.wireText, account.accessToken.wireText,
                family.childCode,
            ] {
                for line in written { #expect(!line.contains(secret), "\(secret) in \(line)") }
            }
        }
    }
}
