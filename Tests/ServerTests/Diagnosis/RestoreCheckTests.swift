import Audit
import Domain
import Foundation
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("nagz restore-check")
struct RestoreCheckTests {
    /// What a restore has done to a database, and what the check says.
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let statements: [String]
        let check: String
        let says: [String]
    }

    /// The bytes with another last one.
    private static func changed(_ column: String) -> String {
        "set_byte(\(column), length(\(column)) - 1, get_byte(\(column), length(\(column)) - 1) # 1)"
    }
    private static let newest = "SELECT family_id, n FROM audit_leaf ORDER BY position DESC LIMIT 1"

    static let damages = [
        Damage(
            testDescription: "people's keys changed",
            statements: ["UPDATE audit_subject_key SET wrapped = \(changed("wrapped"))"],
            check: "sealed keys", says: ["does not open", "another backup"]),
        Damage(
            testDescription: "people's keys of another time",
            statements: ["UPDATE audit_subject_key SET master = '\\x01020304'"],
            check: "sealed keys", says: ["lacks the master key 01020304", "seal"]),
        Damage(
            testDescription: "people's keys left out", statements: ["DELETE FROM audit_subject_key"],
            check: "newest entries", says: ["cannot be opened", "audit_subject_key"]),
        Damage(
            testDescription: "a body changed",
            statements: ["UPDATE audit_payload SET body = \(changed("body")) WHERE (family_id, n) IN (\(newest))"],
            check: "newest entries", says: ["cannot be opened"]),
        Damage(
            testDescription: "an entry changed",
            statements: ["UPDATE audit_entry SET kind = 'nag.other' WHERE (family_id, n) IN (\(newest))"],
            check: "newest entries", says: ["not as it was written"]),
        Damage(
            testDescription: "entries left out",
            statements: ["DELETE FROM audit_entry WHERE (family_id, n) IN (\(newest))"],
            check: "newest entries", says: ["lacks entries that the Merkle log has (1)", "restore the backup again"]),
        Damage(
            testDescription: "a leaf changed",
            statements: ["UPDATE audit_leaf SET hash = sha256('x') WHERE (family_id, n) IN (\(newest))"],
            check: "newest entries", says: ["not the one in the Merkle log"]),
        Damage(
            testDescription: "clocks of an earlier moment",
            statements: [
                "UPDATE family_clock SET seq = seq - 1 WHERE family_id IN (SELECT family_id FROM (\(newest)) l)"
            ],
            check: "family clocks", says: ["1 of ", "from one backup"]),
        Damage(
            testDescription: "clocks behind their nags",
            statements: ["UPDATE family_clock SET ts = '2020-01-01' WHERE family_id IN (SELECT family_id FROM nags)"],
            check: "family clocks", says: ["1 of "]),
        Damage(
            testDescription: "clocks left out",
            statements: ["DELETE FROM family_clock WHERE family_id IN (SELECT id FROM families)"],
            check: "family clocks", says: ["2 of "]),
        Damage(
            testDescription: "a trigger left out", statements: ["DROP TRIGGER only_pruned ON audit_entry"],
            check: "schema objects", says: ["missing: trigger audit_entry only_pruned", "--exit-on-error"]),
        Damage(
            testDescription: "a primary key left out",
            statements: ["ALTER TABLE excuses DROP CONSTRAINT excuses_pkey CASCADE"],
            check: "schema objects", says: ["no primary key: excuses"]),
        Damage(
            testDescription: "a foreign key left out",
            statements: ["ALTER TABLE excuses DROP CONSTRAINT excuses_family_id_nag_id_fkey"],
            check: "schema objects", says: ["foreign keys: 56 instead of 57"]),
        Damage(
            testDescription: "an index left out", statements: ["DROP INDEX one_active_family"], check: "indexes",
            says: ["1 are missing", "missing: one_active_family", "CREATE INDEX"]),
        Damage(
            testDescription: "an index that is not valid",
            statements: ["UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'one_active_family'::regclass"],
            check: "indexes", says: ["invalid: one_active_family", "REINDEX"]),
        Damage(
            testDescription: "positions of phones from before the restore",
            statements: ["UPDATE family_clock SET epoch = 1"],
            check: "feed", says: ["2 of 2 feeds", "nagz admin resync"]),
    ]

    /// A database as a complete restore leaves it, with two families, a nag and twelve entries and more in the log.
    private static let restored = Task {
        try await TestCluster.shared.template { url in
            try await TestServer.run(on: url, configure: { $0.runsSequencer = false }, isOfActs: false) { server in
                let scene = try await AttackScene(server)
                _ = try await server.nag(from: scene.family.guardian, to: scene.family.child, in: scene.family.id)
                try await server.runRound()
            }
            try await FeedEpoch.begin(databaseURL: TestLogin.owner.url(url))
        }
    }

    private static func results(
        _ url: String, _ keys: AuditKeyring? = TestServer.auditKeyring
    ) async throws -> [CheckResult] {
        try await RestoreCheck(
            databaseURL: TestLogin.server.url(url), folder: repository.appending(path: "Migrations").path(),
            keys: #require(keys)
        ).run()
    }

    @Test("nagz restore-check finds what a restore has damaged, in a copy of the database", arguments: damages)
    func finds(damage: Damage) async throws {
        try await TestCluster.shared.withDatabase(copyOf: Self.restored.value) { url in
            let database = try await TestDatabase(url: url)
            // No trigger refuses what happened before they were there.
            let guarded = ["audit_entry", "audit_payload", "audit_leaf"].map { "ALTER TABLE \($0) DISABLE TRIGGER ALL" }
            for statement in (damage.check == "newest entries" ? guarded : []) + damage.statements {
                _ = try await database.rows(SQL(unsafeSQL: statement)) { _ in }
            }
            await database.close()
            let result = try #require(try await Self.results(url).first { $0.name == damage.check })
            #expect(result.status == .failed && result.advice?.isEmpty == false)
            for text in damage.says { #expect("\(result.text)\n\(result.advice ?? "")".contains(text), "\(result)") }
        }
    }

    @Test("nagz restore-check finds nothing in a complete restore")
    func complete() async throws {
        try await TestCluster.shared.withDatabase(copyOf: Self.restored.value) { url in
            let results = try await Self.results(url)
            #expect(
                results.map(\.name) == [
                    "sealed keys", "newest entries", "family clocks", "schema objects", "indexes", "feed",
                ])
            #expect(results.allSatisfy { $0.status == .ok }, "\(results)")
            let entries = try #require(results.first { $0.name == "newest entries" })
            #expect(
                entries.text.firstMatch(of: /^([0-9]+) entries are unchanged/).flatMap { Int($0.output.1) } ?? 0 > 12,
                "\(entries)")
        }
    }

    @Test("a trigger that a dump created again counts as the same, though PostgreSQL prints it otherwise")
    func dumped() async throws {
        try await TestCluster.shared.withDatabase(copyOf: Self.restored.value) { url in
            let database = try await TestDatabase(url: url)
            let texts: [String] = try await database.rows(
                "SELECT pg_get_triggerdef(oid) AS text FROM pg_trigger WHERE tgname = 'recount_resolved'"
            ) { try $0["text"] }
            for statement in ["DROP TRIGGER recount_resolved ON nags"] + texts {
                _ = try await database.rows(SQL(unsafeSQL: statement)) { _ in }
            }
            let again: [String] = try await database.rows(
                "SELECT pg_get_triggerdef(oid) AS text FROM pg_trigger WHERE tgname = 'recount_resolved'"
            ) { try $0["text"] }
            await database.close()
            #expect(again != texts && again.count == 1)
            #expect(try await Self.results(url).allSatisfy { $0.status == .ok })
        }
    }

    @Test("nagz restore-check fails without the key file of the backup's time")
    func otherKeys() async throws {
        let keys = try AuditKeyring(
            text: "origin nagz.test/log\nsign \(OperatorScene.key)\nseal \(OperatorScene.key)\n")
        try await TestCluster.shared.withDatabase(copyOf: Self.restored.value) { url in
            let result = try #require(try await Self.results(url, keys).first)
            #expect(result.status == .failed && result.text.contains("lacks the master key"), "\(result)")
        }
    }

    @Test("indexes and foreign keys are read from the migrations")
    func migratedObjects() throws {
        let script = """
            CREATE INDEX a ON t (x); CREATE UNIQUE INDEX b
                ON t (y);
            -- CREATE INDEX c ON t (z);
            DROP INDEX a;
            ALTER TABLE t ADD CONSTRAINT t_x_fkey FOREIGN KEY (x) REFERENCES u, ADD FOREIGN KEY (y) REFERENCES u; -- REFERENCES
            ALTER TABLE t DROP CONSTRAINT t_x_fkey;
            """
        let made = MigratedObjects([try #require(Migrator.Migration(fileName: "0001_a.sql", sql: script))])
        #expect(made.indexes == ["b"] && made.foreignKeyCount == 1)
    }
}
