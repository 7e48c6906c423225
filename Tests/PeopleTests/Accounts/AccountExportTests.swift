import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Filling an account")
struct FillAccountTests {
    private static func fill(
        _ name: String? = nil, _ email: String? = nil, born: (Int, Int, Int)? = nil, as person: TestPerson,
        on server: TestServer
    ) async throws -> AccountResponse {
        let birth = born.flatMap { CivilDate(year: $0.0, month: $0.1, day: $0.2) }.map(DateOfBirth.init)
        return try await server.call(
            API.createAccount,
            AccountCreate(
                email: try email.map { text throws(InvalidInput) in try EmailAddress(wireText: text) },
                displayName: name, dateOfBirth: birth), as: person)
    }

    @Test("empty fields of an account are filled once, and filled ones stay")
    func fills() async throws {
        try await TestServer.run { server in
            let nell = try await server.account()
            try await server.sql("UPDATE users SET display_name = NULL WHERE id = \(nell.id)")
            let empty = try await server.expectOnly { try await Self.fill(as: nell, on: server) }
            #expect(empty.id == nell.id && empty.email == nell.email && empty.displayName == nil)
            let filled = try await server.expectOnly(audit: ["account.changed"]) {
                try await Self.fill("Nelly", "other@example.org", born: (1990, 2, 3), as: nell, on: server)
            }
            #expect(filled.displayName == "Nelly" && filled.email == nell.email && filled.status == "active")
            #expect(try await server.audit(.outside).last?.details == ["filled": "display_name,date_of_birth"])
            let again = try await server.expectOnly {
                try await Self.fill("Another", born: (1991, 2, 3), as: nell, on: server)
            }
            #expect(again == filled)
            let rows = try await server.rows("SELECT display_name, date_of_birth FROM users WHERE id = \(nell.id)")
            #expect(rows[0]["display_name"] == "Nelly" && rows[0]["date_of_birth"] == "1990-02-03")
        }
    }

    @Test("a child's account cannot add an address or age itself, and nobody can become under 13")
    func refused() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.sql("UPDATE users SET date_of_birth = NULL WHERE id = \(family.child.id)")
            try await server.expectOnly {
                try await expectRefusal(403) {
                    try await Self.fill(nil, "kid@example.org", as: family.child, on: server)
                }
                try await expectRefusal(403) { try await Self.fill(born: (1990, 1, 1), as: family.child, on: server) }
                try await expectRefusal(403) {
                    try await Self.fill(born: (2020, 1, 1), as: family.guardian, on: server)
                }
                #expect(try await Self.fill("Other", as: family.child, on: server).displayName == family.child.name)
            }
        }
    }
}

@Suite("The export of an account")
struct AccountExportTests {
    private static func export(_ person: TestPerson, on server: TestServer) async throws -> AccountExport {
        try await server.call(API.exportAccount, as: person)
    }

    @Test("an export has all of the person's own data and nothing of others, with one entry in the audit log")
    func own() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (child, guardian) = (family.child, family.guardian)
            try await server.enableGamification(child)
            let received = try await server.nag(from: guardian, to: child)
            _ = try await server.nag(from: guardian, to: family.participant)
            let excuse = try await server.call(
                API.submitExcuse, NagPath(nagID: received.id), ExcuseCreate(text: "the \"parrot\" ate it"), as: child)
            try await server.register("push-token", as: child)
            try await server.register("other-token", as: guardian)
            _ = try await server.call(API.createBlock, BlockCreate(targetID: family.participant.id), as: child)
            let report = try await server.report(family.participant, as: child)
            let about = try await server.report(child, "about the child", as: family.participant)
            _ = try await server.call(
                API.updateNagStatus, NagPath(nagID: received.id), NagStatusUpdate(status: .completed), as: child)
            let export = try await server.expectOnly(audit: ["account.exported"]) {
                try await Self.export(child, on: server)
            }
            func texts(_ section: AccountExport.Section, _ name: String) -> [String?] {
                export.sections[section, default: []].map { $0[name]?.stringValue }
            }
            #expect(texts(.account, "id") == [child.id.description])
            #expect(texts(.memberships, "role") == ["child"])
            #expect(texts(.nags, "id") == [received.id.description])
            #expect(texts(.nags, "created_at") == [server.clock.now().rfc3339])
            #expect(texts(.excuses, "id") == [excuse.id.description])
            #expect(texts(.excuses, "text") == ["the \"parrot\" ate it"])
            #expect(texts(.devices, "platform") == ["ios"] && texts(.blocks, "state") == ["active"])
            #expect(texts(.abuseReports, "id") == [report.id.description])
            #expect(export.sections[.points]?.isEmpty == false && export.sections[.badges]?.isEmpty == false)
            #expect(texts(.consents, "id") == [] && texts(.connections, "id") == [])
            let text = String(decoding: export.content, as: UTF8.self)
            for secret in ["push-token", "other-token", about.id.description, "about the child", "password"] {
                #expect(!text.contains(secret), "\(secret)")
            }
            let theirs = try await Self.export(guardian, on: server)
            #expect(theirs.sections[.nags]?.count == 2 && theirs.sections[.excuses]?.isEmpty == true)
            #expect(theirs.sections[.consents]?.count == 3 && theirs.sections[.blocks]?.isEmpty == true)
        }
    }

    @Test("an export has hundreds of nags, each once, also of a former member")
    func pages() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.insertNags(250, from: family.guardian, to: family.participant, in: family.id)
            let export = try await Self.export(family.participant, on: server)
            let ids = export.sections[.nags, default: []].compactMap { $0["id"]?.stringValue }
            #expect(ids.count == 250 && Set(ids).count == 250)
            #expect(try await Self.export(family.child, on: server).sections[.nags]?.isEmpty == true)
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: family.participant.id), as: family.guardian)
            let later = try await Self.export(family.participant, on: server)
            #expect(later.sections[.nags]?.count == 250)
            #expect(later.sections[.memberships]?.first?["status"] == "removed")
            #expect(try await server.audit(.outside).last?.kind == "account.exported")
        }
    }

    @Test("an export has the person's open sessions, what they were notified of and what the AI answered them")
    func received() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.register("push-token", as: family.child)
            let nag = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.call(API.coach, CoachingRequest(nagID: nag.id), as: family.child)
            _ = try await server.call(API.coach, CoachingRequest(nagID: nag.id), as: family.guardian)
            try await server.sql(
                """
                INSERT INTO ai_mediation_events (family_id, id, nag_id, prompt_type, tone, summary, actor_id,
                                                 recipient_ids, at, sync_seq, sync_ts)
                SELECT \(family.id), gen_random_uuid(), \(NagID(high: 0, low: 0)), 'digest_sent', 'neutral', 'the week',
                       \(family.guardian.id), ARRAY[\(family.child.id)]::uuid[], now(), seq, ts
                FROM family_clock WHERE family_id = \(family.id)
                """)
            let sections = try await Self.export(family.child, on: server).sections
            #expect(sections[.sessions, default: []].map { $0["id"] } == [.string(family.child.session.description)])
            #expect(sections[.deliveries, default: []].map { $0["nag_id"] } == [.string(nag.id.description)])
            #expect(sections[.deliveries]?.first?["cause"] == "nag_created")
            let answers = sections[.aiAnswers, default: []]
            #expect(Set(answers.map { $0["prompt_type"] }) == ["coaching", "digest_sent"])
            #expect(answers.contains { $0["summary"] == "the week" })
            let others = try await Self.export(family.participant, on: server).sections
            #expect(others[.deliveries] == [] && others[.aiAnswers] == [])
        }
    }

    @Test("the note of a completion is in its recipient's export, and in nobody else's")
    func notes() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            _ = try await server.call(
                API.updateNagStatus, NagPath(nagID: nag.id), NagStatusUpdate(status: .completed, note: "only mine"),
                as: family.child)
            let own = try await Self.export(family.child, on: server).sections[.nags, default: []]
            #expect(own.map { $0["completion_note"]?.stringValue } == ["only mine"])
            let creators = try await Self.export(family.participant, on: server)
            #expect(creators.sections[.nags]?.count == 1)
            #expect(!String(decoding: creators.content, as: UTF8.self).contains("only mine"))
        }
    }

    @Test("a person has two exports at once; further ones are refused with 429, and their count returns to zero")
    func limits() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let limiter = try #require(server.exports)
            var running = [
                try limiter.begin(family.child.id, from: nil), try limiter.begin(family.child.id, from: nil),
            ]
            try await server.expectOnly {
                try await expectRefusal(429) { try await Self.export(family.child, on: server) }
            }
            _ = try await Self.export(family.guardian, on: server)
            running.removeLast()
            _ = try await Self.export(family.child, on: server)
            running.removeAll()
            let outcomes = try await together(outcomesOf: 12) { _ in try await Self.export(family.child, on: server) }
            for outcome in outcomes {
                if case .failure(let error) = outcome { #expect(error.status == 429) }
            }
            #expect(outcomes.contains { (try? $0.get()) != nil })
            // The client has the whole answer a little before the server counts its end.
            while server.exports?.runningCount != 0 { await Task.yield() }
        }
    }
}

/// Who may fill and export an account: everybody their own.
extension MatrixRow {
    static let accountData: [MatrixRow] = [
        MatrixRow(API.createAccount, concern: .caller, allowed: .everybody) { _ in (NoParameters(), AccountCreate()) },
        MatrixRow(API.exportAccount, concern: .caller, allowed: .everybody) { _ in (NoParameters(), NoBody()) },
    ]
}
