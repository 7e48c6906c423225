import Audit
import Contract
import Domain
import Foundation
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// A family's day told with words that occur nowhere else, and then looked for everywhere they must not be.
@Suite("Secrets in logs, metrics and audit tables")
struct CanaryTests {
    private static let password = "canary-password-7Qx"
    private static let pin = "8317"
    private static let excuse = "canaryexcuse the parrot ate it"
    private static let description = "canarydescription water the plants"
    private static let note = "canarynote done before lunch"
    private static let preference = "canarypreference"
    private static let name = "Canaryname"
    private static let email = "canary.address@example.org"
    private static let query = "canaryquery"
    private static let pushToken = "canarypushtoken"

    private struct Secrets: Sendable {
        var tokens: [String] = []
        var codes: [String] = []
    }

    @Test("passwords, PINs, tokens, addresses and people's words reach no log, no metrics and no audit table")
    func canaries() async throws {
        try await TestServer.run(configure: { $0.logLevel = .info }) { server in
            let secrets = try await story(server)
            let metrics = try await server.metrics().text
            let figures = try await server.call("GET", "/api/v1/metrics").text
            let log = try await server.logged { $0.joined().contains(#""route":"/api/v1/metrics""#) }.joined(
                separator: "\n")
            let auditLog = try await auditLog(server)
            #expect(log.contains("request") && auditLog.contains("nag.created"))
            let words = [
                Self.password, Self.excuse, Self.description, Self.note, Self.preference, Self.name, Self.email,
                Self.query, Self.pushToken,
                "canary",
            ]
            for word in words + secrets.tokens + secrets.codes {
                #expect(!log.localizedCaseInsensitiveContains(word), "log: \(word)")
                #expect(!metrics.localizedCaseInsensitiveContains(word), "metrics: \(word)")
                #expect(!figures.localizedCaseInsensitiveContains(word), "figures: \(word)")
                #expect(!auditLog.localizedCaseInsensitiveContains(word), "audit: \(word)")
            }
            for secret in [Self.password] + secrets.tokens {
                #expect(try await tables(server, holding: secret) == [], "in the clear: \(secret)")
            }
            // Four digits may stand in any id or time: a PIN is looked for as a whole value.
            #expect(try await tables(server, holding: "\"\(Self.pin)\"") == [])
        }
    }

    /// Sign-up to completion, with wrong passwords and refused requests on the way.
    private func story(_ server: TestServer) async throws -> Secrets {
        var secrets = Secrets()
        func signUp(_ email: String) async throws -> (TestPerson, AuthResponse) {
            let request = SignupRequest(
                email: try EmailAddress(wireText: email), password: Secret(Self.password), displayName: Self.name)
            let answer = try await server.call(API.signUp, request)
            secrets.tokens += [answer.accessToken.wireText, answer.refreshToken.wireText]
            let claims = try server.tokens.verify(answer.accessToken.wireText, at: server.clock.now())
            let person = TestPerson(
                id: claims.user, session: claims.session, pseudonym: Pseudonym(high: 0, low: 0), name: Self.name)
            return (person, answer)
        }
        let (guardian, session) = try await signUp(Self.email)
        _ = try? await server.call(
            API.signUp,
            SignupRequest(
                email: try EmailAddress(wireText: Self.email), password: Secret(Self.password)))
        _ = try? await server.call(
            API.logIn,
            LoginRequest(
                email: try EmailAddress(wireText: Self.email), password: Secret(Self.password + "-wrong")))
        let signedIn = try await server.call(
            API.logIn,
            LoginRequest(
                email: try EmailAddress(wireText: Self.email), password: Secret(Self.password)))
        let renewed = try await server.call(API.refreshSession, RefreshRequest(refreshToken: session.refreshToken))
        for answer in [signedIn, renewed] {
            secrets.tokens += [answer.accessToken.wireText, answer.refreshToken.wireText]
        }
        let family = try await server.call(API.createFamily, FamilyCreate(name: Self.name + " family"), as: guardian)
        secrets.codes += [family.inviteCode] + (family.childCode.map { [$0] } ?? [])
        for type in [ConsentType.childAccountCreation, .aiMediation, .gamificationParticipation] {
            try await server.call(API.grantConsent, ConsentCreate(familyID: family.id, type: type), as: guardian)
        }
        for address in ["canary.invitee@example.org", Self.email] {
            _ = try? await server.call(
                API.inviteConnection, ConnectionInvite(inviteeEmail: try EmailAddress(wireText: address)), as: guardian)
        }
        let child = try await server.call(
            API.createMember, FamilyPath(familyID: family.id),
            MemberCreateAndAdd(
                displayName: Self.name, role: .child, username: "canaryuser", pin: try PIN(wireText: Self.pin)),
            as: guardian)
        let code = try await server.call(API.getFamily, FamilyPath(familyID: family.id), as: guardian).childCode
        if let code {
            secrets.codes.append(code)
            let signedIn = try await server.call(
                API.childLogIn,
                ChildLoginRequest(familyCode: code, username: "canaryuser", pin: try PIN(wireText: Self.pin)))
            secrets.tokens += [signedIn.accessToken.wireText, signedIn.refreshToken.wireText]
            try await chores(server, family.id, guardian, child.userID, signedIn.accessToken.wireText)
        }
        return secrets
    }

    private func chores(
        _ server: TestServer, _ family: FamilyID, _ guardian: TestPerson, _ child: UserID, _ token: String
    ) async throws {
        try await server.call(
            API.updatePreferences, FamilyQuery(familyID: family),
            PreferenceUpdate(preferences: [Self.preference: .string(Self.preference)]), as: guardian)
        let nag = try await server.call(
            API.createNag,
            NagCreate(
                familyID: family, recipientID: child, dueAt: server.clock.now() + .hours(3), category: .chores,
                doneDefinition: .binaryWithNote, description: Self.description), as: guardian)
        try await server.call(
            "POST", "/api/v1/nags/\(nag.id)/excuses?x=\(Self.query)", token: token, body: ["text": .string(Self.excuse)]
        )
        try await server.call(
            "POST", "/api/v1/ai/summarize-excuse", token: token,
            body: ["text": .string(Self.excuse), "nag_id": .string(nag.id.description)])
        for platform in ["ios", "ipados", "plan9"] {
            try await server.call(
                "POST", "/api/v1/devices", token: token,
                body: ["platform": .string(platform), "token": .string(Self.pushToken)])
        }
        for reason in ["canaryreason", String(repeating: "canaryreason", count: 200)] {
            try await server.call(
                "POST", "/api/v1/abuse-reports", token: token,
                body: ["target_id": .string(guardian.id.description), "reason": .string(reason)])
        }
        // Refused: children do not nag; and nonsense, refused for its shape.
        try await server.call(
            "POST", "/api/v1/nags", token: token,
            body: [
                "family_id": .string(family.description), "recipient_id": .string(guardian.id.description),
                "due_at": "2026-03-10T20:00:00Z", "category": "chores", "done_definition": "ack_only",
                "description": .string(Self.description),
            ])
        try await server.call("POST", "/api/v1/nags", token: token, body: ["description": .string(Self.description)])
        try await server.call("GET", "/\(Self.query)/x?token=\(token)", isDocumented: false)
        try await server.call(
            "POST", "/api/v1/nags/\(nag.id)/status", token: token,
            body: ["status": "completed", "note": .string(Self.note)])
    }

    /// Both audit tables as text, bodies unsealed.
    private func auditLog(_ server: TestServer) async throws -> String {
        let entries = try await server.rows("SELECT * FROM audit_entry").map(\.description)
        let bodies = try await server.database.rows(
            """
            SELECT e.commit, p.body, p.key_id, k.wrapped FROM audit_payload p JOIN audit_entry e USING (family_id, n)
            LEFT JOIN audit_subject_key k ON k.id = p.key_id
            """
        ) { row in String(decoding: try #require(try row.unsealedBody()), as: UTF8.self) }
        return (entries + bodies).joined(separator: "\n")
    }

    /// The tables in which some row, printed as JSON, holds the text.
    private func tables(_ server: TestServer, holding text: String) async throws -> [String] {
        let names: [String] = try await server.database.rows(
            "SELECT tablename::text AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
        ) { try $0["name"] }
        var found: [String] = []
        for name in names {
            let table = SQL(unsafeSQL: name)
            // Byte columns are searched as text too: what is kept of an answer is JSON.
            let held: [Bool] = try await server.database.rows(
                """
                SELECT EXISTS (SELECT FROM \(table) t WHERE position(\(text) IN to_jsonb(t)::text) > 0
                    OR position(encode(convert_to(\(text), 'UTF8'), 'hex') IN to_jsonb(t)::text) > 0) AS held
                """
            ) { try $0["held"] }
            if held == [true] { found.append(name) }
        }
        return found
    }
}
