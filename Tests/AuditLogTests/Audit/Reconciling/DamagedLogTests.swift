import Audit
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Reconciliation with a log that has several faults")
struct DamagedLogTests {
    private static let disarm = [
        "SET session_replication_role = replica", "ALTER TABLE audit_entry DISABLE TRIGGER USER",
        "ALTER TABLE audit_payload DISABLE TRIGGER USER",
    ]
    /// The lived family, and its entries of a kind, the first one first.
    private static func entries(_ kind: String) -> String {
        """
        SELECT family_id, n FROM audit_entry
        WHERE kind = '\(kind)' AND family_id = (SELECT min(family_id::text)::uuid FROM nags) ORDER BY n
        """
    }
    private static let raiseRoles = """
        UPDATE memberships SET role = CASE role WHEN 'participant' THEN 'guardian' ELSE 'participant' END
        WHERE role IN ('participant', 'child') AND family_id = (SELECT min(family_id::text)::uuid FROM nags)
        """

    /// What a reconciliation says of a copy of the lived history that was changed by hand.
    private static func report(after statements: [String]) async throws -> StateReport {
        let history = try await ReconcileTests.history.value
        return try await TestCluster.shared.withDatabase(copyOf: history.template) { url in
            let database = try await TestDatabase(url: url)
            for statement in statements {
                try await database.run { _ = try await $0.query(SQL(unsafeSQL: statement)) }
            }
            await database.close()
            return try await Reconciliation(of: nil).run(
                databaseURL: url, keys: try #require(TestServer.auditKeyring), clock: history.clock)
        }
    }

    @Test("an unreadable body hides no changed role, and only what it recorded is unproven")
    func unreadableBody() async throws {
        let report = try await Self.report(
            after: Self.disarm + [
                """
                UPDATE audit_payload SET body = set_byte(body, 40, get_byte(body, 40) # 1)
                WHERE (family_id, n) = (\(Self.entries("nag.created")) LIMIT 1)
                """, Self.raiseRoles,
            ])
        let broken = report.findings.filter { $0.subject == .entry }
        #expect(broken.map(\.found) == ["unreadable_body"])
        let roles = report.findings.filter { $0.subject == .membership && $0.field == "role" }
        #expect(roles.count >= 2)
        #expect(
            report.unprovenFindings.contains { $0.subject == .nag && $0.problem == .unread },
            "\(report.unprovenFindings)")
        #expect(!report.unprovenFindings.contains { $0.problem == .notReplayed })
        #expect(report.unprovenCount == Int64(report.unprovenFindings.count))
    }

    @Test(
        "behind an invalid entry, rows from before it are findings, and what may have changed since is unproven")
    func brokenChain() async throws {
        let report = try await Self.report(
            after: Self.disarm + [
                """
                UPDATE audit_entry SET at = at + interval '1 microsecond'
                WHERE (family_id, n) = (\(Self.entries("nag.completed")) OFFSET 1 LIMIT 1)
                """,
                """
                UPDATE gamification_events SET delta_points = delta_points + 1
                WHERE (family_id, sync_seq) = (\(Self.entries("nag.completed")) LIMIT 1)
                """, Self.raiseRoles,
            ])
        let broken = report.findings.filter { $0.subject == .entry }
        #expect(broken.map(\.found) == ["altered_entry"], "\(report.findings)")
        let number = try #require(broken.first?.number)
        #expect(report.unprovenFindings.contains { $0.problem == .notReplayed && $0.number == number })
        #expect(
            report.unprovenFindings.first { $0.problem == .notReplayed }?.description
                .hasSuffix("the log could not be replayed from entry \(number) on") == true)
        // Points of before the entry, and their sums, which are compared with the rows.
        #expect(report.findings.contains { $0.subject == .points && $0.field == "delta_points" })
        #expect(report.findings.contains { $0.subject == .totals && $0.field == "points" })
        // A later entry may have changed a role.
        #expect(report.unprovenFindings.count { $0.subject == .membership && $0.field == "role" } >= 2)
        #expect(!report.findings.contains { $0.subject == .membership })
    }

    @Test("every altered entry is named, and accounts are checked all the same")
    func severalEntries() async throws {
        let report = try await Self.report(
            after: Self.disarm + [
                """
                UPDATE audit_entry SET at = at + interval '1 microsecond'
                WHERE (family_id, n) IN (\(Self.entries("nag.created")) LIMIT 3)
                """,
                "UPDATE admins SET revoked_at = NULL",
            ])
        #expect(
            report.findings.filter { $0.subject == .entry }.map(\.found) == Array(repeating: "altered_entry", count: 3))
        #expect(report.findings.contains { $0.subject == .administrator })
    }

    @Test("if the log's last entries are missing, later rows are unproven")
    func cutTail() async throws {
        let report = try await Self.report(
            after: Self.disarm + [
                """
                DELETE FROM audit_entry WHERE (family_id, n) IN (
                    SELECT family_id, max(n) FROM audit_entry
                    WHERE family_id = (SELECT min(family_id::text)::uuid FROM nags) GROUP BY family_id)
                """, Self.raiseRoles,
            ])
        #expect(report.findings.contains { $0.subject == .clock && $0.field == "seq" })
        #expect(report.unprovenFindings.contains { $0.problem == .notReplayed })
        #expect(report.unprovenFindings.contains { $0.subject == .membership && $0.field == "role" })
    }
}
