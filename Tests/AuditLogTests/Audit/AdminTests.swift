import Audit
import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Administrators")
struct AdminTests {
    private static let password = "plenty of 7 different letters"

    private static func create(_ server: TestServer, _ email: String = "root@example.org") async throws -> Admins.Admin
    {
        try await Admins.create(
            databaseURL: server.database.url, keys: try #require(TestServer.auditKeyring), email: email,
            password: password,
            cost: .testing, clock: server.clock)
    }

    private static func logIn(_ server: TestServer, _ email: String = "root@example.org") async throws -> TestPerson {
        let answer = try await server.call(
            API.logIn, LoginRequest(email: try EmailAddress(wireText: email), password: Secret(password)))
        let claims = try server.tokens.verify(answer.accessToken.wireText, at: server.clock.now())
        return TestPerson(id: claims.user, session: claims.session, pseudonym: Pseudonym(high: 0, low: 0), name: "Root")
    }

    @Test("an administrator made at the command line signs in and reads every audit log; each look is an entry")
    func reads() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.write([.aiCoaching, .aiDigest], by: family.guardian, in: family.id)
            try await server.write([.aiPatterns], by: family.stranger, in: family.otherFamilyID)
            let admin = try await server.expectOnly(audit: ["admin.created"]) { try await Self.create(server) }
            let person = try await server.expectOnly(audit: ["session.opened"]) { try await Self.logIn(server) }
            #expect(person.id == admin.id)
            let page = try await server.expectOnly(audit: ["admin.read"]) {
                try await server.call(API.listAuditEvents, AuditQuery(), as: person)
            }
            // The look itself is on it, newest first.
            #expect(page.items.map(\.kind).first == "admin.read")
            #expect(Set(page.items.map(\.familyID)) == [family.id, family.otherFamilyID, .outside])
            let named = try await server.call(
                API.listAuditEvents, AuditQuery(conditions: .init(familyID: family.id)), as: person)
            #expect(named.items.map(\.kind) == ["ai.digest", "ai.coaching"])
            let read = try #require(try await server.audit(.outside).last)
            #expect(read.kind == "admin.read" && read.details["operation"] == "listAuditEvents")
            #expect(read.details["family"] == family.id.description && read.resource == family.id.retyped())
            for _ in 0..<1 {
                _ = try await server.expectOnly(audit: ["admin.read"]) {
                    try await server.call(API.verifyAuditLog, AuditScopeQuery(), as: person)
                }
                _ = try await server.expectOnly(audit: ["admin.read"]) {
                    try await server.call(API.listAuditFamilies, AuditFamiliesQuery(), as: person)
                }
            }
        }
    }

    @Test("the audit log of all families joins page by page, whatever is written meanwhile")
    func pages() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for round in 0..<7 {
                try await server.write([.aiCoaching, .aiDigest], by: family.guardian, in: family.id)
                try await server.write([.aiCoaching], by: family.stranger, in: family.otherFamilyID)
                if round.isMultiple(of: 2) { server.clock.advance(by: .seconds(5)) }
            }
            let admin = try await server.admin()
            for kind in [nil, "ai.coaching"] {
                var (seen, cursor): ([String], String?) = ([], nil)
                repeat {
                    let page = try await server.call(
                        API.listAuditEvents, AuditQuery(conditions: .init(kind: kind), cursor: cursor, limit: 4),
                        as: admin)
                    seen += page.items.filter { $0.familyID != .outside }.map { "\($0.familyID) \($0.n)" }
                    cursor = page.nextCursor
                    try await server.write([.sessionOpened], by: family.guardian, in: family.id)
                } while cursor != nil
                let old = seen.filter {
                    !$0.hasPrefix(family.id.description) || (Int($0.split(separator: " ")[1]) ?? 0) <= 14
                }
                #expect(Set(old).count == old.count && old.count == (kind == nil ? 21 : 14))
            }
            let error = try await refusal {
                try await server.call(API.listAuditEvents, AuditQuery(cursor: "x"), as: admin)
            }
            #expect(error.code == .validationFailed)
        }
    }

    @Test("a free search of the audit log finds by person, thing and trace, and by part of a kind")
    func search() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let thing: ResourceID = server.random.identifier(at: server.clock.now())
            try await server.write([.nagCreated], by: family.guardian, about: family.child, in: family.id)
            try await server.write([.nagCompleted], by: family.child, resource: thing, in: family.id)
            try await server.write([.consentGranted], by: family.guardian, in: family.id)
            func found(_ q: String) async throws -> [Int] {
                try await server.call(API.listAuditEvents, AuditQuery(conditions: .init(q: q)), as: family.guardian)
                    .items.map(\.n)
            }
            #expect(try await found("nag") == [2, 1])
            #expect(try await found("CONSENT") == [3])
            #expect(try await found("nonsense") == [])
            #expect(try await found("  ") == [3, 2, 1])
            #expect(try await found(family.child.id.description) == [2, 1])
            #expect(try await found(family.child.pseudonym.description) == [2, 1])
            #expect(try await found(thing.description) == [2])
            let trace = try await server.call(API.listAuditEvents, AuditQuery(), as: family.guardian).items[2].traceID
            #expect(try await found(trace.description) == [1])
        }
    }

    @Test("an administrator's session ends after half an hour without use, and after twelve hours in any case")
    func sessions() async throws {
        try await TestServer.run { server in
            _ = try await Self.create(server)
            let email = try EmailAddress(wireText: "root@example.org")
            var answer = try await server.call(API.logIn, LoginRequest(email: email, password: Secret(Self.password)))
            func status() async throws -> Int {
                try await server.call("GET", "/api/v1/audit/status", token: answer.accessToken.wireText).status
            }
            var hours = 0.0
            while hours < 12 {
                server.clock.advance(by: .minutes(29))
                hours += 29.0 / 60
                guard
                    let next = try? await server.call(
                        API.refreshSession, RefreshRequest(refreshToken: answer.refreshToken))
                else { break }
                answer = next
                #expect(try await status() == 200)
            }
            #expect((11.5...12.5).contains(hours))
            answer = try await server.call(API.logIn, LoginRequest(email: email, password: Secret(Self.password)))
            server.clock.advance(by: .minutes(31))
            #expect(try await status() == 401)
        }
    }

    @Test("use keeps an administrator's session for twelve hours at most, with at most one write a minute")
    func use() async throws {
        try await TestServer.run { server in
            _ = try await Self.create(server)
            let email = try EmailAddress(wireText: "root@example.org")
            let answer = try await server.call(API.logIn, LoginRequest(email: email, password: Secret(Self.password)))
            let claims = try server.tokens.verify(answer.accessToken.wireText, at: server.clock.now())
            func status() async throws -> Int {
                try await server.call("GET", "/api/v1/audit/status", token: answer.accessToken.wireText).status
            }
            /// Which transaction wrote the session last.
            func writer() async throws -> [String] {
                try await server.database.rows("SELECT xmin::text AS writer FROM sessions WHERE id = \(claims.session)")
                {
                    try $0["writer"]
                }
            }
            let beginning = server.clock.now()
            var writers: Set<[String]> = [try await writer()]
            for minute in stride(from: 29, to: 720, by: 29) {
                server.clock.set(to: beginning + .minutes(Int64(minute)))
                #expect(try await status() == 200, "minute \(minute)")
                writers.insert(try await writer())
                let before = try await writer()
                server.clock.advance(by: .seconds(59))
                #expect(try await status() == 200)
                #expect(try await writer() == before, "a second write within the minute")
            }
            #expect(writers.count > 20)
            server.clock.set(to: beginning + .hours(12))
            #expect(try await status() == 401)
            try await expectRefusal(401) { try await server.refresh(answer.refreshToken) }
        }
    }

    @Test("use neither revives an administrator's ended or revoked session nor writes other people's sessions")
    func useOfOthers() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let admin = try await server.admin()
            for ending: SQL in [
                "revoked_at = \(server.clock.now())", "revoked_at = NULL, expires_at = \(server.clock.now())",
            ] {
                try await server.sql("UPDATE sessions SET \(ending) WHERE id = \(admin.session)")
                try await expectRefusal(401) { try await server.call(API.getAuditStatus, as: admin) }
                let stands = try await server.rows(
                    "SELECT id FROM sessions WHERE id = \(admin.session) AND revoked_at IS NULL AND expires_at > \(server.clock.now())"
                )
                #expect(stands.isEmpty)
            }
            try await server.sql(
                "UPDATE sessions SET expires_at = \(server.clock.now() + .minutes(2)) WHERE id = \(family.guardian.session)"
            )
            try await server.expectOnly { try await server.call(API.getAuditStatus, as: family.guardian) }
        }
    }

    @Test("an administrator gets no weak password or taken address; revoking ends the account and its sessions")
    func rules() async throws {
        try await TestServer.run { server in
            #expect(Admins.weakness(of: "short but $trange", email: "a@b.org") == nil)
            #expect(Admins.weakness(of: "aaaaaaaaaaaaaaaaaaaaaaaa", email: "a@b.org") != nil)
            #expect(Admins.weakness(of: "only 15 letters", email: "a@b.org") != nil)
            #expect(Admins.weakness(of: "the secret of gertrude", email: "gertrude@b.org") != nil)
            let family = try await server.family()
            await #expect(throws: Admins.Fault.self) {
                _ = try await Self.create(server, try #require(family.guardian.email))
            }
            _ = try await Self.create(server)
            let person = try await Self.logIn(server)
            #expect(try await Admins.listAll(databaseURL: server.database.url).map(\.email) == ["root@example.org"])
            try await server.expectOnly(audit: ["admin.revoked"]) {
                try await Admins.revoke(
                    databaseURL: server.database.url, keys: try #require(TestServer.auditKeyring),
                    email: "Root@example.org",
                    clock: server.clock)
            }
            #expect(try await refusal { try await server.call(API.getAuditStatus, as: person) }.status == 401)
            let again = try await Self.logIn(server)
            #expect(try await refusal { try await server.call(API.getAuditStatus, as: again) }.status == 403)
        }
    }

    @Test("one audit entry is answered with all that is needed to check it")
    func detail() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.write([.aiCoaching, .aiDigest, .aiPatterns], by: family.guardian, in: family.id)
            let fresh = try await server.call(
                API.getAuditEvent, AuditEntryPath(familyID: family.id, n: 2), as: family.guardian)
            #expect(
                fresh.entry.kind == "ai.digest" && fresh.payload == "whole" && fresh.entry.details == ["who": "Gia"])
            try await server.waitUntilSequenced()
            let detail = try await server.call(
                API.getAuditEvent, AuditEntryPath(familyID: family.id, n: 2), as: family.guardian)
            let proof = try #require(detail.proof)
            #expect(proof.size == 3 && proof.path.count <= 2)
            for (path, status) in [("0", 404), ("99", 404), ("x", 404), ("99999999999999999999", 404)] {
                let reply = try await server.call(
                    "GET", "/api/v1/audit/events/\(family.id)/\(path)", as: family.guardian)
                #expect(reply.status == status)
            }
        }
    }
}
