import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Reconciliation of the state with the audit log")
struct ReconcileTests {
    @Test("the audit log explains an honest history, also after departures, an erasure and retention")
    func honest() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            try await family.liveWithNags()
            try await family.liveWithIncentives()
            try await family.liveWithConstraints()
            try await family.liveWithDrafts()
            #expect(try await server.reconcile().findings.map(\.description) == [])
            try await family.liveWithDepartures()
            try await family.makeAdministrators()
            var report = try await server.reconcile()
            #expect(report.findings.map(\.description) == [])
            #expect(report.verdict == "explained" && report.gaps.isEmpty && report.comparedCount > 40, "\(report)")

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

            try await server.runRound()
            server.clock.advance(by: .days(1_200))
            try await server.write([.auditLogPruned], by: family.guardian, in: family.id)
            try await server.runRound()
            _ = try await Pruning(before: server.clock.now() - Prune.retention).run(
                databaseURL: url, keys: keys, isDryRun: false, clock: server.clock)
            report = try await server.reconcile()
            #expect(report.findings.map(\.description) == [])
            #expect(report.gaps[.pruned] ?? 0 > 0 && report.verdict == "explained")
        }
    }

    @Test("a policy's changes, proposals, approvals and owners are explained, and rows beside them are named")
    func policy() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            let id = try await server.policyID(family.id)
            let (one, other) = (family.guardian, family.participant)
            func expectExplained(sourceLocation: SourceLocation = #_sourceLocation) async throws {
                let found = try await server.reconcile().findings.map(\.description)
                #expect(found == [], sourceLocation: sourceLocation)
            }
            try await server.change(id, ["daily_nag_cap": 7, "mood": "quiet", "half": 0.5, "whole": 2.0], as: one)
            try await expectExplained()
            _ = try await server.call(
                API.addMember, FamilyPath(familyID: family.id), MemberAdd(userID: other.id, role: .guardian), as: one)
            try await server.change(id, owners: [one, other], as: one)
            try await server.approve(id, as: other)
            try await expectExplained()
            try await server.change(id, ["daily_nag_cap": 5], as: one)
            try await expectExplained()
            for statement in [
                "UPDATE policies SET proposed_constraints = proposed_constraints || '{\"daily_nag_cap\": 8}'",
                "UPDATE policies SET proposed_owners = owners[1:1]",
                "UPDATE policy_approvals SET approver_id = '\(other.id)' WHERE proposal_id IS NOT NULL",
            ] {
                try await server.sql("CREATE TABLE kept AS SELECT * FROM policies")
                try await server.sql("CREATE TABLE kept_approvals AS SELECT * FROM policy_approvals")
                try await server.sql(SQL(unsafeSQL: statement))
                let findings = try await server.reconcile().findings.filter { $0.subject == .policy }
                #expect(findings.map(\.field) == ["proposed_terms"], "\(statement)")
                try await server.sql("DELETE FROM policy_approvals")
                try await server.sql("DELETE FROM policies")
                try await server.sql("INSERT INTO policies SELECT * FROM kept")
                try await server.sql("INSERT INTO policy_approvals SELECT * FROM kept_approvals")
                try await server.sql("DROP TABLE kept, kept_approvals")
            }
            try await expectExplained()
            try await server.approve(id, as: other)
            try await expectExplained()
            try await server.change(id, ["daily_nag_cap": 4], as: other)
            _ = try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: one)
            try await expectExplained()
            #expect(try await server.policy(family.id, as: other).owners == [other.id])
            try await server.change(id, ["daily_nag_cap": 3], as: other)
            try await expectExplained()
        }
    }

    @Test("the database's schema is the one that the migrations make")
    func schema() async throws {
        try await TestServer.run { server in
            let found = try await server.database.run { try await SchemaCheck($0).readFacts() }
            #expect(Set(found).subtracting(SchemaFacts.expected).sorted() == [], "add these to SchemaFacts")
            #expect(SchemaFacts.expected.subtracting(found).sorted() == [], "take these out of SchemaFacts")
        }
    }

    @Test("state that was changed without an entry is named", arguments: Tampering.all + Tampering.constraints)
    func tampered(_ tampering: Tampering) async throws {
        let history = try await Self.history.value
        try await TestCluster.shared.withDatabase(copyOf: history.template) { url in
            let database = try await TestDatabase(url: url)
            for statement in tampering.statements {
                try await database.run { _ = try await $0.query(SQL(unsafeSQL: statement)) }
            }
            await database.close()
            let report = try await Reconciliation(of: nil).run(
                databaseURL: url, keys: try #require(TestServer.auditKeyring), clock: history.clock)
            #expect(report.verdict == "unexplained")
            #expect(
                report.findings.contains { $0.subject == tampering.subject && $0.problem == tampering.problem },
                "\(report.findings)")
        }
    }

    /// A history that its log explains, which every tampering starts from.
    struct History: Sendable {
        let template: TestCluster.Template
        /// Stands where the history ends.
        let clock: ManualClock
    }

    static let history = Task {
        let clock = ManualClock()
        let template = try await TestCluster.shared.template { url in
            try await TestServer.run(on: url, configure: { $0.runsSequencer = false }, isOfActs: false) { server in
                let family = try await LivedFamily(server)
                try await family.liveWithNags()
                try await family.liveWithIncentives()
                try await family.liveWithConstraints()
                _ = try await server.call(
                    API.suspendRelationship, RelationshipPath(relationshipID: family.participant.id.retyped()),
                    as: family.guardian)
                try await family.makeAdministrators()
                let gone = try await server.signUp("left@example.org")
                let deletion = try await server.call(
                    "DELETE", "/api/v1/accounts/\(gone.user.id)", token: gone.accessToken.wireText)
                #expect(deletion.status == 200)
                try await server.runRound()
                try #require(try await server.reconcile().verdict == "explained")
                clock.set(to: server.clock.now())
            }
        }
        return History(template: template, clock: clock)
    }
}
