import Audit
import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Limits of giving and revoking consents")
struct ConsentLimitTests {
    private static func records(_ server: TestServer, of person: TestPerson) async throws -> Int {
        try await server.database.rows("SELECT count(*) AS n FROM consents WHERE user_id = \(person.id)") {
            try $0["n"]
        }[0]
    }

    @Test(
        "giving and revoking a consent all day leaves ten records for a person, type and day",
        arguments: [(Who.guardian, ConsentType.aiMediation), (.participant, .aiMediation), (.participant, .smsOptIn)])
    func bounded(who: Who, type: ConsentType) async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let person = who(family)
            let scope = type == .smsOptIn ? nil : family.id
            func cycle() async throws {
                let consent = try await server.grant(type, in: scope, as: person)
                _ = try await server.revoke(consent.id, as: person)
            }
            for _ in 0..<ConsentLimit.perTypeAndDay {
                server.clock.advance(by: .minutes(1))
                try await cycle()
            }
            for _ in 0..<12 {
                let error = try await expectRefusal(403) { try await cycle() }
                #expect(error.code == .policyForbidden && error.reason == "consent_limit_reached")
            }
            #expect(try await Self.records(server, of: person) == ConsentLimit.perTypeAndDay)
            let denials = try await server.audit(family.id).filter { $0.kind == "consent.grant.denied" }
            #expect(denials.map { $0.details["count"] } == [nil, "10"])
            // Another type and another person are not concerned, nor is this one a day later.
            _ = try await server.grant(.gamificationParticipation, in: family.id, as: person)
            _ = try await server.grant(type, in: scope, as: family.secondGuardian)
            server.clock.advance(by: .days(1))
            try await cycle()
        }
    }

    @Test("somebody without a family has the same limit of consents, and gets the consent in force")
    func outside() async throws {
        try await TestServer.run { server in
            let nell = try await server.account()
            for _ in 1..<ConsentLimit.perTypeAndDay {
                let consent = try await server.grant(.smsOptIn, in: nil, as: nell)
                _ = try await server.revoke(consent.id, as: nell)
            }
            let last = try await server.grant(.smsOptIn, in: nil, as: nell)
            #expect(try await server.grant(.smsOptIn, in: nil, as: nell) == last)
            _ = try await server.revoke(last.id, as: nell)
            try await expectRefusal(403) { try await server.grant(.smsOptIn, in: nil, as: nell) }
            #expect(try await server.audit(.outside).last?.kind == "consent.grant.denied")
        }
    }

    @Test("the background check reads a family's consents in pages")
    func pages() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family(consents: [])
            let count = 2 * ReconcileStatements.pageSize + 1
            try await server.sql(
                """
                INSERT INTO consents (id, user_id, family_id, consent_type, granted_at, revoked_at)
                SELECT gen_random_uuid(), \(family.guardian.id), \(family.id), 'ai_mediation', now(), now()
                FROM generate_series(1, \(count)::integer)
                """)
            let keys = try #require(TestServer.auditKeyring)
            let (findings, most) = try await server.database.run { database in
                var last: ConsentID?
                var most = 0
                while true {
                    let rows = try await database.query(ReconcileStatements.consents(of: family.id, after: last))
                    most = max(most, rows.count)
                    if rows.count == 0 { break }
                    last = try rows[rows.count - 1]["id"]
                }
                let check = FamilyCheck(
                    database, keys, Sealing(keys, random: SystemRandomness()), clock: server.clock)
                return (try await check.run(family.id).findings.count { "\($0)".contains("consent") }, most)
            }
            #expect(most == ReconcileStatements.pageSize)
            #expect(findings > 0, "each of them is one that no entry explains; a report names some")
        }
    }
}
