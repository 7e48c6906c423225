import Audit
import Contract
import Domain
import SQL
import Synchronization
import Testing

@testable import Seeds
@testable import Server

@Suite("The audit log explains the state")
struct ReconcileTests {
    @Test("an honest history is explained, also after departures, an erasure and retention")
    func honest() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            try await family.liveWithNags()
            #expect(try await server.reconcile().findings.map(\.description) == [])
            try await family.liveWithDepartures()
            try await family.makeAdministrators()
            var report = try await server.reconcile()
            #expect(report.findings.map(\.description) == [])
            #expect(report.verdict == "explained" && report.gaps.isEmpty && report.rows > 40, "\(report)")

            let (url, keys) = (server.database.url, try #require(TestServer.auditKeyring))
            for person in [family.participant, family.stranger] {
                if person.id == family.stranger.id {
                    _ = try await server.call(API.deleteAccount, AccountPath(userID: person.id), as: person)
                }
                _ = try await Erasure(of: person.id).run(
                    databaseURL: url, keys: keys, isDryRun: false, clock: server.clock)
            }
            report = try await server.reconcile()
            #expect(report.findings.map(\.description) == [])
            #expect(report.gaps[.erased] ?? 0 > 0 && report.verdict == "explained")

            try await server.round()
            server.clock.advance(by: .days(1_200))
            try await server.write([.auditLogPruned], by: family.guardian, in: family.id)
            try await server.round()
            _ = try await Pruning(before: server.clock.now() - Prune.retention).run(
                databaseURL: url, keys: keys, isDryRun: false, clock: server.clock)
            report = try await server.reconcile()
            #expect(report.findings.map(\.description) == [])
            #expect(report.gaps[.pruned] ?? 0 > 0 && report.verdict == "explained")
        }
    }

    @Test("ninety days of the demo family are explained, every row of them")
    func demo() async throws {
        try await TestServer.run { server in
            let told = Mutex(0)
            try await DemoSeed.run(
                databaseURL: server.database.url, auditKeyring: TestServer.auditKeyring, clock: server.clock,
                cost: .testing,
                skipsUsed: false, progress: { _ in }, announce: { people in told.withLock { $0 = people.count } })
            let report = try await server.reconcile()
            #expect(report.findings.map(\.description) == [])
            #expect(report.verdict == "explained" && report.gaps.isEmpty && report.rows > 500, "\(report)")
        }
    }

    @Test("the schema is the one that the migrations make")
    func schema() async throws {
        try await TestServer.run { server in
            let found = try await server.database.run { try await SchemaCheck($0).facts() }
            #expect(Set(found).subtracting(SchemaFacts.expected).sorted() == [], "add these to SchemaFacts")
            #expect(SchemaFacts.expected.subtracting(found).sorted() == [], "take these out of SchemaFacts")
        }
    }

    @Test("state changed beside the log is named", arguments: Tampering.all)
    func tampered(_ tampering: Tampering) async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            try await family.liveWithNags()
            _ = try await server.call(
                API.suspendRelationship, RelationshipPath(relationshipID: family.participant.id.retyped()),
                as: family.guardian)
            try await family.makeAdministrators()
            let gone = try await server.signUp("left@example.org")
            let deletion = try await server.call(
                "DELETE", "/api/v1/accounts/\(gone.user.id)", token: gone.accessToken.wireText)
            #expect(deletion.status == 200)
            try await server.round()
            #expect(try await server.reconcile().verdict == "explained")
            for statement in tampering.statements { try await server.sql(SQL(unsafeSQL: statement)) }
            let report = try await server.reconcile()
            #expect(report.verdict == "unexplained")
            #expect(
                report.findings.contains { $0.subject == tampering.subject && $0.problem == tampering.problem },
                "\(report.findings)")
        }
    }
}
