import Audit
import Contract
import Domain
import JSON
import ModelProviders
import NagzAI
import Postgres
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("People's own keys for models")
struct AIKeyTests {
    @Test("an adult stores, replaces, sees and deletes an AI key, and nobody else does")
    func life() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPasswords()
            let first = try await server.expectOnly(audit: ["ai_key.set"]) {
                try await server.setKey(as: family.participant)
            }
            #expect(first.hint == "…wxyz" && first.endpoint == "https://api.openai.com/v1")
            #expect(first.tokensField == .maxCompletionTokens && first.schemaStyle == .jsonSchema)
            #expect(first.createdAt == server.clock.now() && first.lastUsedAt == nil)
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.actor == family.participant.pseudonym && entry.details == ["provider": "openai"])
            server.clock.advance(by: .seconds(1))
            let second = try await server.setKey(.openai, "0123456789abcdef", as: family.participant)
            #expect(second.hint == "…cdef")
            let other = try await server.setKey(.anthropic, as: family.participant)
            #expect(other.endpoint == "https://api.anthropic.com" && other.tokensField == .maxTokens)
            #expect(try await server.keys(of: family.participant) == [other, second])
            #expect(try await server.keys(of: family.guardian).isEmpty)
            try await server.expectOnly {
                try await expectRefusal(404) {
                    try await server.call(API.deleteAIKey, AIKeyPath(provider: .openai), as: family.guardian)
                }
            }
            try await server.expectOnly(audit: ["ai_key.deleted"]) {
                try await server.call(API.deleteAIKey, AIKeyPath(provider: .openai), as: family.participant)
            }
            #expect(try await server.rows("SELECT provider FROM ai_keys") == [["provider": "anthropic"]])
        }
    }

    @Test("a child's account is refused an AI key, with an entry")
    func children() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let refused = try await server.expectOnly(audit: ["ai_key.use.denied"]) {
                try await expectRefusal(403) { try await server.setKey(as: family.child) }
            }
            #expect(refused.reason == Denial.keysForAdultsOnly.rawValue)
            // A refusal that comes again is counted, and gets no entry of its own.
            try await server.expectOnly {
                try await expectRefusal(403) { try await server.check(.openai, as: family.child) }
            }
            #expect(try await server.keys(of: family.child).isEmpty)
        }
    }

    @Test("a wrong password stores no key and counts among sign-in's ten attempts, which a right one resets")
    func passwords() async throws {
        try await TestServer.run { server in
            let loner = try await server.account()
            try await server.setPasswords()
            func logIn(_ password: String) async throws {
                let email = try EmailAddress(wireText: try #require(loner.email))
                try await server.call(API.logIn, LoginRequest(email: email, password: Secret(password)))
            }
            for _ in 0..<9 {
                let wrong = try await server.expectOnly(audit: ["sign_in.failed"]) {
                    try await expectRefusal(422) { try await server.setKey(password: "wrong", as: loner) }
                }
                #expect(wrong.field == "password")
            }
            try await server.setKey(as: loner)
            for _ in 0..<10 {
                try await expectRefusal(422) { try await server.setKey(password: "wrong", as: loner) }
            }
            // The right one is not looked at any more, here and at sign-in.
            try await expectRefusal(429) { try await server.setKey(as: loner) }
            try await expectRefusal(429) { try await logIn(TestServer.password) }
            server.clock.advance(by: .minutes(16))
            try await server.setKey(as: loner)
            try await logIn(TestServer.password)
        }
    }

    @Test(
        "an endpoint is a public https URL of a custom provider",
        arguments: [
            "http://models.example.org", "https://127.0.0.1/v1", "https://[::1]", "https://10.0.0.1",
            "https://169.254.169.254/latest", "https://[::ffff:10.0.0.1]", "https://localhost", "https://2130706433",
            "https://user@example.org", "https://0x7f.1", "https://100.64.0.1", "https:///v1", "https://localhost./v1",
            "https://models.example.org./v1", "https://intranet/v1", "https://a.local", "https://a.INTERNAL:8443",
            "https://a.home.arpa", "https://nowhere.invalid", "https://models.test", "https://127.0.0.1./v1",
        ])
    func endpoints(endpoint: String) async throws {
        try await TestServer.run { server in
            let loner = try await server.account()
            try await server.setPasswords()
            let refused = try await expectRefusal(422) {
                try await server.setKey(.custom, endpoint: endpoint, as: loner)
            }
            #expect(refused.field == "endpoint")
            #expect(try await server.keys(of: loner).isEmpty)
            guard ThirdPartyURL(endpoint) != nil else { return }
            #expect(refused.message == "This endpoint is not an address of the public internet.")
        }
    }

    @Test("exactly a custom provider has an endpoint, and a key without header characters is refused")
    func input() async throws {
        try await TestServer.run { server in
            let loner = try await server.account()
            try await server.setPasswords()
            try await server.expectOnly {
                for (provider, endpoint) in [(KeyProvider.custom, nil), (.openai, "https://models.example.org")] {
                    let refused = try await expectRefusal(422) {
                        try await server.setKey(provider, endpoint: endpoint, as: loner)
                    }
                    #expect(refused.field == "endpoint")
                }
                for key in ["short", "0123456789abcde\n0", "0123456789 abcdef", "0123456789abcdeé"] {
                    let refused = try await expectRefusal(422) { try await server.setKey(.openai, key, as: loner) }
                    #expect(refused.field == "key")
                }
            }
        }
    }

    @Test("a service in the own network is not called with a person's key, and is reported as unreachable")
    func innerAddress() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { service in
            for isAllowed in [false, true] {
                try await TestServer.run(configure: { configuration in
                    configuration.models.authorities = service.authority
                    if isAllowed { configuration.callThirdParties(service) }
                }) { server in
                    let loner = try await server.account()
                    try await server.insertKey(
                        .custom, model: "test-model", endpoint: service.url() + "/model/good", of: loner)
                    let check = try await server.check(.custom, as: loner)
                    #expect(check.isAvailable == isAllowed)
                    #expect(isAllowed || check.reason == "unreachable")
                    let asked = String(decoding: try await service.content(of: "/requests"), as: UTF8.self)
                    #expect(asked.contains("/model/good") == isAllowed)
                }
            }
        }
    }

    @Test("a check asks the provider whether it accepts the key and has the model")
    func checks() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { provider in
            try await TestServer.run(configure: { $0.callThirdParties(provider) }) { server in
                let loner = try await server.account()
                try await server.setPasswords()
                try await expectRefusal(404) { try await server.check(.custom, as: loner) }
                for (word, reason) in [
                    ("good", nil), ("list-401", "key_refused"), ("list-without", "unknown_model"),
                    ("list-429", "limited"), ("list-500", "failed"), ("list-redirect", "failed"),
                ] as [(String, String?)] {
                    try await server.setKey(.custom, endpoint: provider.url() + "/model/\(word)", as: loner)
                    #expect(try await server.keys(of: loner).map(\.lastUsedAt) == [nil])
                    let check = try await server.check(.custom, as: loner)
                    #expect(check.isAvailable == (reason == nil) && check.reason == reason, "\(word)")
                    #expect(try await server.keys(of: loner).map(\.lastUsedAt) == [server.clock.now()])
                }
            }
        }
    }

    @Test("a key's seal is bound to owner, provider and endpoint")
    func seals() async throws {
        try await TestServer.run { server in
            let (one, two) = (try await server.account("One"), try await server.account("Two"))
            try await server.setPasswords()
            for change: SQL in [
                "UPDATE ai_keys SET user_id = \(two.id)", "UPDATE ai_keys SET provider = 'anthropic'",
                "UPDATE ai_keys SET endpoint = 'https://attacker.example.org'",
                "UPDATE ai_keys SET sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1)",
            ] {
                try await server.sql("DELETE FROM ai_keys")
                try await server.setKey(as: one)
                try await server.sql(change)
                let row = try #require(
                    try await server.database.rows(
                        "SELECT * FROM ai_keys", { row throws(PostgresError) in try StoredAIKey(row) }
                    ).first)
                let keyring = try #require(TestServer.auditKeyring)
                #expect(row.opened(keyring) == nil)
                let owner = row.user == two.id ? two : one
                try await expectRefusal(409) { try await server.check(row.response.provider, as: owner) }
            }
        }
    }

    @Test("AI keys are deleted with the account, at once")
    func deletion() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let loner = try await server.account()
            try await server.setPasswords()
            for person in [family.participant, family.guardian, loner] { try await server.setKey(as: person) }
            for person in [family.participant, loner] {
                try await server.call(API.deleteAccount, AccountPath(userID: person.id), as: person)
            }
            #expect(
                try await server.rows("SELECT user_id FROM ai_keys")
                    == [["user_id": .string(family.guardian.id.description)]])
        }
    }

    @Test("a rotation of the master key seals AI keys again and retires the old one for them")
    func rotation() async throws {
        try await TestServer.run { server in
            let loner = try await server.account()
            try await server.setPasswords()
            try await server.setKey(as: loner)
            let url = server.database.url
            func keyring(_ masters: [String]) throws -> AuditKeyring {
                let seals = masters.map { "seal " + String(repeating: $0, count: 32) }.joined(separator: "\n")
                return try AuditKeyring(
                    text: "origin nagz.test/log\nsign \(String(repeating: "5a", count: 32))\n\(seals)\n")
            }
            func stored() async throws -> StoredAIKey {
                try #require(
                    try await server.database.rows(
                        "SELECT * FROM ai_keys", { row throws(PostgresError) in try StoredAIKey(row) }
                    ).first)
            }
            let (both, new, old) = (try keyring(["99", "c3"]), try keyring(["99"]), try keyring(["c3"]))
            #expect(try await stored().opened(old) != nil)
            // The person's key of the audit log, and the one for models.
            #expect(try await Rewrapping.keyCounts(databaseURL: url).map(\.keys) == [2])
            #expect(try await Rewrapping.run(databaseURL: url, keys: both, batch: 1) == 2)
            #expect(try await Rewrapping.run(databaseURL: url, keys: both) == 0)
            #expect(try await stored().opened(new) != nil)
            #expect(try await stored().opened(old) == nil)
            try await Rewrapping.retireOldMasters(databaseURL: url, keys: both)
            await #expect(throws: PostgresError.self) {
                try await server.sql("UPDATE ai_keys SET master = \(old.masterKeys[0].id)")
            }
        }
    }

    @Test("a server without an audit keyring stores no AI keys, and says so")
    func noKeyring() async throws {
        try await TestServer.run(configure: { $0.auditKeyring = nil }) { server in
            let loner = try await server.account()
            try await server.setPasswords()
            let refused = try await server.expectOnly {
                try await expectRefusal(503) { try await server.setKey(as: loner) }
            }
            #expect(refused.message.contains("audit keyring"))
        }
    }

    @Test("an AI key is in no answer, table, log, metric or audit entry in the clear")
    func canary() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { provider in
            try await TestServer.run(
                configure: {
                    $0.callThirdParties(provider)
                    $0.logLevel = .info
                }
            ) { server in
                let family = try await server.family()
                try await server.setPasswords()
                let (secret, person) = (TestServer.secret, family.guardian)
                let body: JSONValue = [
                    "key": .string(secret), "model": "test-model", "password": .string(TestServer.password),
                    "endpoint": .string(provider.url() + "/model/list-401"),
                ]
                var answers: [Reply] = []
                for (method, path) in [
                    ("PUT", "/keys/custom"), ("PUT", "/keys/openai"), ("POST", "/keys/custom/check"), ("GET", "/keys"),
                    ("GET", "/providers?family_id=\(family.id)"),
                ] {
                    answers.append(
                        try await server.call(
                            method, "/api/v1/ai\(path)", as: person, body: method == "PUT" ? body : nil,
                            headers: method == "PUT" ? ["Idempotency-Key": path] : [:]))
                }
                #expect(answers.map(\.status) == [200, 422, 200, 200, 200])
                answers.append(try await server.call("GET", "/api/v1/accounts/export", as: person))
                #expect(answers.last?.json?["ai_keys"]?[0]?["hint"] == "…wxyz")
                answers.append(try await server.metrics())
                let log = try await server.logged { $0.joined().contains("accounts/export") }.joined()
                for (name, text) in answers.map({ ("answer", $0.text) }) + [("log", log)] {
                    #expect(!text.contains(secret) && !text.contains(TestServer.password), "\(name)")
                }
                for entry in try await server.audit(family.id) { #expect(!"\(entry.details)".contains("canary")) }
                let names: [String] = try await server.database.rows(
                    "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public'"
                ) { try $0["name"] }
                for name in names {
                    let held: [Bool] = try await server.database.rows(
                        """
                        SELECT EXISTS (SELECT FROM \(SQL(unsafeSQL: name)) t WHERE to_jsonb(t)::text LIKE '%canary%'
                            OR to_jsonb(t)::text LIKE '%' || encode(convert_to('canary', 'UTF8'), 'hex') || '%') AS held
                        """
                    ) { try $0["held"] }
                    #expect(held == [false], "\(name)")
                }
            }
        }
    }
}

/// Who may do what in the group `keys`.
extension MatrixRow {
    static let keys: [MatrixRow] = [
        MatrixRow(API.setAIKey, concern: .caller, allowed: .adults.union([.administrator])) { _ in
            (
                AIKeyPath(provider: .openai),
                AIKeyUpdate(key: Secret(TestServer.secret), model: "m", password: Secret(TestServer.password))
            )
        },
        MatrixRow(API.listAIKeys, concern: .caller, allowed: .everybody) { _ in (NoParameters(), NoBody()) },
        MatrixRow(API.deleteAIKey, allowed: [.guardian], refusals: [404]) { _ in
            (AIKeyPath(provider: .custom), NoBody())
        },
        MatrixRow(API.checkAIKey, allowed: [.guardian]) { _ in (AIKeyPath(provider: .custom), NoBody()) },
        MatrixRow(API.listModelProviders, allowed: .members) { (FamilyQuery(familyID: $0.family.id), NoBody()) },
    ]
}
