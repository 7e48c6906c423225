import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Findings of verifications on request")
struct KeptFindingTests {
    private static func openFindings(_ server: TestServer) async throws -> Int {
        try await server.rows("SELECT id FROM audit_findings WHERE acknowledged_at IS NULL").count
    }

    @Test("a finding stays after the log was repaired, until it is acknowledged with a reason, which is an entry")
    func verification() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            let admin = try await server.admin()
            try await server.runRound()
            let kind = try #require(try await server.audit(family.id).first { $0.n == 2 }).kind
            try await Forger(server: server).disableTriggers()
            try await server.sql("UPDATE audit_entry SET kind = 'x' WHERE n = 2 AND family_id = \(family.id)")
            for _ in 0..<2 {
                let answer = try await server.call(API.verifyAuditLog, AuditScopeQuery(), as: admin)
                #expect(answer.verdict == "tampered" && answer.code == "altered_entry")
            }
            #expect(try await Self.openFindings(server) == 1)
            // Somebody puts it back as it was.
            try await server.sql("UPDATE audit_entry SET kind = \(kind) WHERE n = 2 AND family_id = \(family.id)")
            let later = try await server.call(API.verifyAuditLog, AuditScopeQuery(), as: admin)
            #expect(later.verdict != "tampered", "\(later)")
            #expect(try await Self.openFindings(server) == 1)
            #expect(try await server.call(API.getAuditStatus, as: family.guardian).findings == 1)

            let page = try await server.call(API.listAuditFindings, AuditFindingsQuery(isOpen: true), as: admin)
            let finding = try #require(page.items.first)
            #expect(page.total == 1 && finding.source == "verification" && finding.code == "altered_entry")
            #expect(finding.familyID == family.id && finding.n == 2 && finding.acknowledgedAt == nil)
            let (path, reason) = (AuditFindingPath(findingID: finding.id), "A row was edited by mistake; restored.")
            for person in [family.guardian, family.stranger] {
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(
                        API.acknowledgeAuditFinding, path, FindingAcknowledgement(reason: "no"), as: person)
                }
            }
            let ended = try await server.call(
                API.acknowledgeAuditFinding, path, FindingAcknowledgement(reason: reason), as: admin)
            #expect(ended.reason == reason && ended.acknowledgedBy == admin.id)
            let again = try await server.call(
                API.acknowledgeAuditFinding, path, FindingAcknowledgement(reason: "another"), as: admin)
            #expect(again == ended)
            #expect(try await Self.openFindings(server) == 0)
            let log = try await server.audit(.outside)
            let entry = try #require(log.last { $0.kind == "log.finding_acknowledged" })
            #expect(entry == log.last && entry.details["reason"] == reason && entry.details["n"] == "2")
            #expect(entry.details["family"] == family.id.description)
        }
    }

    @Test("health and metrics show how many findings are open, without those that were acknowledged")
    func health() async throws {
        try await TestServer.run { server in
            let admin = try await server.admin()
            server.clock.set(to: SystemClock().now())  // a server whose clock is not the database's is not ready
            func expectOpen(_ open: Int) async throws {
                let ready = try await server.call("GET", "/health/ready")
                #expect(ready.json?["audit_findings"] == .integer(Int64(open)), "\(ready.text)")
                #expect(try await server.metrics().text.contains("\nnagz_audit_open_findings \(open)\n"))
            }
            for number in 0..<3 {
                try await expectOpen(number)
                let id: AuditFindingID = server.random.identifier(at: server.clock.now())
                try await server.sql(
                    """
                    INSERT INTO audit_findings (id, source, code, n, message, found_at)
                    VALUES (\(id), 'check', 'altered_entry', \(Int64(number)), 'x', \(server.clock.now()))
                    """)
            }
            try await server.sql(
                """
                UPDATE audit_findings SET acknowledged_at = \(server.clock.now()), acknowledged_by = \(admin.id), reason = 'x'
                WHERE n = 1
                """)
            try await expectOpen(2)
        }
    }

    @Test("a verification finds a checkpoint with a foreign signature, also below checkpoints of the log's own")
    func foreignCheckpoint() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            let admin = try await server.admin()
            try await server.runRound()
            let newest = try await server.call(API.getAuditStatus, as: admin)
            #expect(try await server.call(API.verifyAuditLog, AuditScopeQuery(), as: admin).verdict == "sound")
            let origin = try #require(newest.origin)
            let thief = try #require(SigningKey(name: origin, seed: Array(repeating: 7, count: 32)))
            let checkpoint = Checkpoint(
                origin: origin, size: 1, root: try #require(newest.root).bytes,
                time: server.clock.now())
            try await server.sql(
                """
                INSERT INTO audit_checkpoint (size, at, note)
                VALUES (1, \(checkpoint.time), \(checkpoint.signed(by: [thief]).fullText))
                """)
            _ = try await server.nag(from: family.guardian, to: family.child)
            server.clock.advance(by: .minutes(6))
            try await server.runRound()
            let answer = try await server.call(API.verifyAuditLog, AuditScopeQuery(), as: admin)
            #expect(answer.verdict == "tampered" && answer.code == "untrusted_checkpoint" && answer.position == 1)
            #expect(try await Self.openFindings(server) == 1)
        }
    }

    @Test("whoever may read a family's log can verify it at once, and its findings are kept")
    func check() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            let admin = try await server.admin()
            try await server.runRound()
            let order = AuditCheckOrder(familyID: family.id)
            let first = try await server.call(API.checkAuditLog, AuditCheckOrder(familyID: nil), as: family.guardian)
            #expect(first.familyID == family.id && first.verdict == "explained" && first.rows > 0)
            #expect(first.findings == 0 && first.checkedAt == server.clock.now())
            try await server.sql(
                "UPDATE memberships SET role = 'guardian' WHERE user_id = \(family.participant.id)")
            let found = try await server.call(API.checkAuditLog, order, as: admin)
            #expect(found.verdict == "unexplained" && found.findings == 1)
            #expect(found.firstFindings.first?.contains("role is guardian, the log says participant") == true)
            #expect(try await Self.openFindings(server) == 1)
            try await server.expect(.refusal(.validationFailed, "family_id")) {
                try await server.call(API.checkAuditLog, AuditCheckOrder(familyID: nil), as: admin)
            }
            try await server.expect(.refusal(.authorizationDenied)) {
                try await server.call(API.checkAuditLog, order, as: family.child)
            }
        }
    }

    @Test("a check of an ID that neither a family nor an entry has finds nothing, and is 404")
    func unknownFamily() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            let admin = try await server.admin()
            let refusal = try await expectRefusal(404) {
                try await server.call(
                    API.checkAuditLog, AuditCheckOrder(familyID: FamilyID(high: 1, low: 1)), as: admin)
            }
            #expect(refusal.field == "family_id")
            #expect(try await Self.openFindings(server) == 0)
            // Somebody deletes the family's row: its entries are still there.
            try await server.sql(
                "DO $$ BEGIN SET LOCAL session_replication_role = replica; DELETE FROM families; END $$")
            let found = try await server.call(API.checkAuditLog, AuditCheckOrder(familyID: family.id), as: admin)
            #expect(found.entries > 0)
        }
    }
}
