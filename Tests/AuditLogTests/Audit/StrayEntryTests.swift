import Audit
import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Stray entries and wrong clocks")
struct StrayEntryTests {
    private static let columns: SQL = "at, kind, actor, subject, resource, trace, request, commit, prev, hash"
    private static let unknown = FamilyID(high: 0xdead, low: 1)

    private static func run(_ body: @Sendable (AttackScene) async throws -> Void) async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            try await body(try await AttackScene(server))
        }
    }

    @Test("the database refuses numbers below 1 from everybody, and unknown families from the server's login")
    func refused() async throws {
        try await Self.run { scene in
            let (server, id) = (scene.server, scene.family.id)
            let numbers: [SQL] = [
                """
                INSERT INTO audit_entry (family_id, n, \(Self.columns))
                SELECT family_id, 0, \(Self.columns) FROM audit_entry WHERE family_id = \(id) AND n = 1
                """,
                """
                INSERT INTO audit_payload (family_id, n, salt, body)
                SELECT family_id, -1, salt, body FROM audit_payload WHERE family_id = \(id) AND n = 1
                """,
                """
                INSERT INTO audit_leaf (position, family_id, n, hash)
                SELECT 1000, family_id, 0, hash FROM audit_leaf WHERE position = 1
                """,
            ]
            let families: [SQL] = [
                """
                INSERT INTO audit_entry (family_id, n, \(Self.columns))
                SELECT \(Self.unknown), n, \(Self.columns) FROM audit_entry WHERE family_id = \(id) AND n = 1
                """,
                """
                INSERT INTO audit_payload (family_id, n, salt, body)
                SELECT \(Self.unknown), n, salt, body FROM audit_payload WHERE family_id = \(id) AND n = 1
                """,
                """
                INSERT INTO audit_leaf (position, family_id, n, hash)
                SELECT 1000, \(Self.unknown), n, hash FROM audit_leaf WHERE position = 1
                """,
            ]
            for role in ["nagz_server", nil] {
                for statement in numbers {
                    #expect(try await server.fault(of: statement, as: role)?.hasSuffix("_number") == true)
                }
            }
            for statement in families {
                #expect(try await server.fault(of: statement, as: "nagz_server")?.contains("42501") == true)
            }
            for verdict in try await scene.verdicts() { #expect(verdict.isSound) }
        }
    }

    @Test(
        "stray entries that were written without the constraints are named by both readings",
        arguments: [
            ("an entry numbered 0", "SELECT family_id, 0,", "out_of_order"),
            ("an entry numbered below 0", "SELECT family_id, -7,", "out_of_order"),
            ("an entry of an unknown family", "SELECT '00000000-0000-dead-0000-000000000001', 1,", "no_clock"),
        ])
    func stray(name: String, place: String, code: String) async throws {
        try await Self.run { scene in
            let (server, id) = (scene.server, scene.family.id)
            try await server.dropNumberConstraints()
            let target = SQL(unsafeSQL: place)
            try await server.sql(
                """
                INSERT INTO audit_entry (family_id, n, \(Self.columns))
                \(target) \(Self.columns) FROM audit_entry WHERE family_id = \(id) AND n = 1
                """)
            let verdicts = try await scene.verdicts()
            if code == "no_clock" {
                // The first entry of another chain does not hash as one of this family's.
                #expect(["altered_entry", "no_clock"].contains(verdicts[0].code))
                #expect(verdicts[0].finding?.family == FamilyID("00000000-0000-dead-0000-000000000001"))
            } else {
                #expect(verdicts[0].code == code && verdicts[0].finding?.family == id)
                #expect(verdicts[1].code == code)
            }
            try await scene.writeExport(name, expecting: 1)
        }
    }

    @Test("a chain with matching hashes for an unknown family is named")
    func unknownFamily() async throws {
        try await Self.run { scene in
            let server = scene.server
            try await server.dropNumberConstraints()
            let act = AuditEntry.Act(
                kind: AuditKind.consentGranted.rawValue, actor: scene.family.guardian.pseudonym, subject: nil,
                resource: nil,
                trace: server.random.identifier(at: server.clock.now()),
                request: server.random.identifier(at: server.clock.now()),
                commitment: AuditBody.commitment(salt: [UInt8](repeating: 1, count: 32), body: []))
            var entry = AuditEntry(
                family: Self.unknown, number: 1, at: server.clock.now(), act: act, previous: AuditEntry.genesisHash,
                hash: [])
            entry.hash = entry.expectedHash
            try await server.sql(
                """
                INSERT INTO audit_entry (family_id, n, at, kind, actor, trace, request, commit, prev, hash)
                VALUES (\(entry.family), 1, \(entry.at), \(act.kind), \(act.actor), \(act.trace), \(act.request),
                        \(act.commitment), \(entry.previous), \(entry.hash))
                """)
            try await server.sql(
                """
                INSERT INTO audit_payload (family_id, n, salt, body)
                VALUES (\(entry.family), 1, \([UInt8](repeating: 1, count: 32)), ''::bytea)
                """)
            let verdict = try await scene.verdicts()[0]
            #expect(verdict.code == "no_clock" && verdict.finding?.family == Self.unknown)
            try await scene.writeExport("a chain of an unknown family", expecting: 1)
        }
    }

    @Test(
        "family clocks that were changed by hand are named",
        arguments: [
            ("a clock deleted", "DELETE FROM family_clock WHERE family_id =", "no_clock"),
            ("a clock set back", "UPDATE family_clock SET seq = seq - 1 WHERE family_id =", "clock_differs"),
            ("a clock set forward", "UPDATE family_clock SET seq = seq + 3 WHERE family_id =", "clock_differs"),
            (
                "a clock with another head", "UPDATE family_clock SET head = sha256('x') WHERE family_id =",
                "clock_differs"
            ),
        ])
    func clocks(name: String, sql: String, code: String) async throws {
        try await Self.run { scene in
            let id = scene.family.id
            try await scene.server.dropNumberConstraints()
            let change = SQL(unsafeSQL: sql)
            try await scene.server.sql("\(change) \(id)")
            let all = verdict(try await scene.server.export(nil, as: scene.admin))
            #expect(all.code == code && all.finding?.family == id)
            // Without its clock nobody of the family can ask for its audit log.
            if code != "no_clock" { #expect(try await scene.verdicts()[1].code == code) }
            try await scene.writeExport(name, expecting: 1)
        }
    }

    @Test("an export with more unsequenced entries than fit on a page is sound")
    func manyUnplaced() async throws {
        try await Self.run { scene in
            try await scene.server.addEntries(1_100, in: scene.family.id)
            for verdict in try await scene.verdicts() { #expect(verdict.isSound, "\(verdict)") }
        }
    }
}

extension TestServer {
    /// Takes down what refuses numbers that no clock gave out.
    fileprivate func dropNumberConstraints() async throws {
        try await Forger(server: self).disableTriggers()
        try await sql("ALTER TABLE audit_entry DROP CONSTRAINT audit_entry_number")
    }

    /// The constraint that a statement violates; nil when it violates none.
    fileprivate func fault(of statement: SQL, as role: String?) async throws -> String? {
        try await database.run { database in
            do {
                try await database.transaction { transaction in
                    if let role { _ = try await transaction.query(SQL(unsafeSQL: "SET LOCAL ROLE \(role)")) }
                    _ = try await transaction.query(statement)
                }
                return nil
            } catch let error as PostgresError {
                return error.constraint ?? "\(error)"
            }
        }
    }
}
