import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Signing up")
struct SignUpTests {
    @Test("a sign-up makes an account, its session and one entry on the chain outside families")
    func account() async throws {
        try await TestServer.run { server in
            let answer = try await server.expectOnly(audit: ["account.created"]) {
                try await server.call(
                    "POST", "/api/v1/auth/signup",
                    body: [
                        "email": "  Nell@Example.ORG ", "password": "correct horse", "display_name": "Nell",
                    ])
            }
            #expect(answer.status == 201)
            #expect(answer.json?["user"]?["email"] == "nell@example.org")
            #expect(answer.json?["user"]?["status"] == "active")
            #expect(answer.json?["user"]?["family_memberships"] == [])
            #expect(answer.json?["family_id"] == .null)
            #expect(answer.json?["token_type"] == "bearer")
            let entry = try await server.audit(.outside)[0]
            #expect(entry.actor == entry.subject)
            #expect(entry.details == ["status": "active", "user": answer.json?["user"]?["id"]?.stringValue ?? ""])
            let token = try #require(answer.json?["access_token"]?.stringValue)
            #expect(try await server.status(of: Secret(token)) == 403, "signed in, but no member of that family")
            let kept = try await server.rows("SELECT password_hash FROM users")[0]["password_hash"]?.stringValue
            #expect(kept?.hasPrefix("$argon2id$") == true)
        }
    }

    @Test("an address has one account, in any spelling and with sign-ups at once")
    func duplicate() async throws {
        try await TestServer.run { server in
            let statuses = try await server.expectOnly(audit: ["account.created"]) {
                try await together(8) { number in
                    try await server.call(
                        "POST", "/api/v1/auth/signup",
                        body: [
                            "email": .string(number.isMultiple(of: 2) ? "nell@example.org" : " NELL@example.org"),
                            "password": "correct horse",
                        ]
                    ).status
                }
            }
            #expect(statuses.sorted() == [201] + Array(repeating: 409, count: 7))
            let error = try await server.expectOnly {
                try await refusal { try await server.signUp("nell@example.org") }
            }
            #expect(error.code == .conflict)
            #expect(error.field == "email")
        }
    }

    @Test(
        "somebody under 13 may sign in, and do nothing else until a family takes them in",
        arguments: [
            ("2013-03-10", "active"), ("2013-03-11", "pending_guardian_consent"),
        ])
    func age(born: String, status: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.signUp("kid@example.org", born: DateOfBirth(wireText: "\(born)T00:00:00Z"))
            #expect(answer.user.status == status)
            let expected = status == "active" ? Denial.notAMember.rawValue : ErrorReason.accountPending
            let reply = try await server.call(
                "GET", "/api/v1/families/\(FamilyID.outside)", token: answer.accessToken.wireText)
            #expect(reply.status == 403)
            #expect(reply.errorCode == "AUTHZ_DENIED" && reply.errorReason == expected)
            #expect(try await server.logIn("kid@example.org", password: "correct horse").user.status == status)
        }
    }

    @Test(
        "a date of birth is a possible date, on the day as it is written",
        arguments: [
            ("2013-03-11", 201, "2013-03-11"), ("2013-03-11T00:00:00+13:00", 201, "2013-03-11"),
            ("2013-03-10T23:59:59-11:00", 201, "2013-03-10"), ("0001-01-01", 422, nil),
            ("1899-12-31T00:00:00Z", 422, nil), ("2026-03-13", 422, nil), ("9999-12-31T00:00:00Z", 422, nil),
            ("2013-02-29", 422, nil), ("2013-03-11T00:00:00", 422, nil),
        ])
    func birth(text: String, status: Int, stored: String?) async throws {
        try await TestServer.run { server in
            let reply = try await server.call(
                "POST", "/api/v1/auth/signup",
                body: [
                    "email": "kid@example.org", "password": "correct horse", "date_of_birth": .string(text),
                ])
            #expect(reply.status == status, "\(reply.text)")
            if status == 422 { #expect(reply.json?["error"]?["details"]?["field"] == "date_of_birth") }
            let rows = try await server.rows("SELECT date_of_birth FROM users WHERE email = 'kid@example.org'")
            #expect(rows.map { $0["date_of_birth"]?.stringValue } == stored.map { [$0] } ?? [])
        }
    }

    @Test(
        "a sign-up with an invalid email or password is refused by the field",
        arguments: [
            ("email", "nobody", "correct horse"), ("password", "nell@example.org", "short"),
        ])
    func invalid(field: String, email: String, password: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.expectOnly {
                try await server.call(
                    "POST", "/api/v1/auth/signup", body: ["email": .string(email), "password": .string(password)])
            }
            #expect(reply.status == 422)
            #expect(reply.json?["error"]?["details"]?["field"]?.stringValue == field)
        }
    }
}
