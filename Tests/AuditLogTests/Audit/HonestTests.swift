import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Verification of honest histories")
struct HonestTests {
    private static func keys(_ sign: [String], _ seal: [String] = ["c3"], next: String? = nil) throws -> AuditKeyring {
        func line(_ word: String, _ byte: String) -> String { "\(word) \(String(repeating: byte, count: 32))\n" }
        return try AuditKeyring(
            text: "origin nagz.test/log\n" + sign.map { line("sign", $0) }.joined()
                + seal.map { line("seal", $0) }.joined() + (next.map { line("next", $0) } ?? ""))
    }

    @Test("after an erasure the person's bodies and key are gone, the other entries verify, and an entry says so")
    func erasure() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let person = family.removed
            try await server.write([.nagCreated], by: family.guardian, about: person, in: family.id)
            try await server.write([.nagCompleted], by: person, in: family.id)
            try await server.write([.nagCreated], by: family.guardian, about: family.child, in: family.id)
            let keys = try #require(TestServer.auditKeyring)
            let (url, clock) = (server.database.url, server.clock)
            let erasure = Erasure(of: person.id)
            let before = try await server.digests()
            let extent = try await erasure.run(databaseURL: url, keys: keys, isDryRun: true, clock: clock)
            #expect(extent.bodyCount == 2 && extent.chains.map(\.family) == [family.id])
            #expect(try await server.digests() == before)
            try await server.expectOnly(audit: ["person.erased", "person.erased"]) {
                _ = try await erasure.run(databaseURL: url, keys: keys, isDryRun: false, clock: clock)
            }
            let auditLog = try await server.audit(family.id)
            #expect(auditLog.map(\.details.isEmpty) == [true, true, false, false])
            #expect(auditLog.last?.subject == person.pseudonym && auditLog.last?.details == ["bodies": "2"])
            let left = try await server.rows("SELECT * FROM audit_subject_key WHERE id = \(person.pseudonym)")
            #expect(left.isEmpty)
            let users = try await server.rows(
                "SELECT status, email, display_name, pseudonym FROM users WHERE id = \(person.id)")
            #expect(users == [["status": "deleted", "email": nil, "display_name": nil, "pseudonym": nil]])
            try await server.waitUntilSequenced()
            let lines = try await server.export(nil, as: try await server.admin())
            #expect(verdict(lines).isSound)
            #expect(verdict(try await server.export(family.id, as: family.guardian)).isSound)
            await #expect(throws: Erasure.Fault.self) {
                try await erasure.run(databaseURL: url, keys: keys, isDryRun: false, clock: clock)
            }
            // A page shows the entry, of nobody, without a word.
            let page = try await server.call(API.listAuditEvents, AuditQuery(), as: family.guardian)
            #expect(page.items.count == 4 && page.items[2].details == nil && page.items[2].actorID == nil)
        }
    }

    @Test("nobody is erased who belongs to a family")
    func member() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (url, keys) = (server.database.url, try #require(TestServer.auditKeyring))
            await #expect(throws: Erasure.Fault.self) {
                try await Erasure(of: family.child.id).run(databaseURL: url, keys: keys, isDryRun: false)
            }
        }
    }

    @Test("retention prunes old entries family by family, and leaves a signed record")
    func pruning() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            try await server.write([.aiCoaching, .aiDigest, .aiPatterns], by: family.guardian, in: family.id)
            try await server.write([.aiCoaching], by: family.stranger, in: family.otherFamilyID)
            try await server.runRound()
            server.clock.advance(by: .days(1_200))
            for person in family.members + [family.stranger] {
                try await server.sql(
                    "UPDATE sessions SET expires_at = \(server.clock.now() + .days(99)) WHERE user_id = \(person.id)")
            }
            try await server.write([.aiPushBack, .aiSelectTone], by: family.guardian, in: family.id)
            try await server.runRound()
            let witness = try await server.call(API.getAuditCheckpoint).text
            let (url, keys, clock) = (server.database.url, try #require(TestServer.auditKeyring), server.clock)
            let pruning = Pruning(before: clock.now() - Prune.retention)
            let planned = try await pruning.run(databaseURL: url, keys: keys, isDryRun: true, clock: clock)
            #expect(Set(planned.map(\.entryCount)) == [3, 1])
            #expect(try await server.audit(family.id).count == 5)
            let done = try await pruning.run(databaseURL: url, keys: keys, isDryRun: false, clock: clock)
            #expect(done == planned)
            #expect(
                try await server.audit(family.id).map(\.kind) == ["ai.push_back", "ai.select_tone", "trail.pruned"])
            #expect(try await server.audit(family.otherFamilyID).map(\.kind) == ["trail.pruned"])
            try await server.runRound()
            let admin = try await server.admin()
            #expect(verdict(try await server.export(nil, as: admin), witnesses: [witness]).isSound)
            #expect(verdict(try await server.export(family.id, as: family.guardian)).isSound)
            // Once more takes nothing, and nothing else can be taken.
            #expect(try await pruning.run(databaseURL: url, keys: keys, isDryRun: false, clock: clock).isEmpty)
            let error: PostgresError? = await {
                do { try await server.sql("DELETE FROM audit_entry WHERE n > 3") } catch let error as PostgresError {
                    return error
                } catch {}
                return nil
            }()
            #expect(error?.description.contains("42501") == true)
        }
    }

    @Test("after a rotation of the signing key, whoever pinned the old or the new one follows the log")
    func rotation() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }) { server in
            let family = try await server.family()
            let (first, both, second) = (try Self.keys(["5a"]), try Self.keys(["77", "5a"]), try Self.keys(["77"]))
            try await server.write([.aiCoaching], by: family.guardian, in: family.id)
            try await server.runRound(first)
            let early = try await server.call(API.getAuditCheckpoint).text
            try await server.write([.aiDigest], by: family.guardian, in: family.id)
            try await server.runRound(both)
            try await server.write([.aiPatterns], by: family.guardian, in: family.id)
            try await server.runRound(second)
            let lines = try await server.export(nil, as: try await server.admin())
            let (old, new) = (first.signingKeys[0].verifier, second.signingKeys[0].verifier)
            #expect(verdict(lines, pinned: [old], witnesses: [early]).isSound)
            #expect(verdict(lines, pinned: [new], witnesses: [early]).isSound)
            let other = try Self.keys(["99"]).signingKeys[0].verifier
            #expect(verdict(lines, pinned: [other]).code == "untrusted_checkpoint")
        }
    }

    @Test("after a rotation of the master key bodies can be read with the new one and not with the old")
    func masterRotation() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.write([.aiCoaching], by: family.guardian, in: family.id)
            let both = try Self.keys(["5a"], ["d4", "c3"])
            #expect(try await Rewrapping.run(databaseURL: server.database.url, keys: both) == 1)
            #expect(try await Rewrapping.run(databaseURL: server.database.url, keys: both) == 0)
            let row = try await server.database.rows("SELECT id, wrapped FROM audit_subject_key") { row in
                (id: try row["id"] as Pseudonym, wrapped: try row["wrapped"] as [UInt8])
            }[0]
            #expect(both.masterKeys[0].unwrap(row.wrapped, id: row.id) != nil)
            #expect(both.masterKeys[1].unwrap(row.wrapped, id: row.id) == nil)
            // Back again, so that the harness can read what it looks at.
            let back = try Self.keys(["5a"], ["c3", "d4"])
            #expect(try await Rewrapping.run(databaseURL: server.database.url, keys: back) == 1)
        }
    }

    @Test("once a master key is retired, no backup from before reveals a person who was erased")
    func backups() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let person = family.removed
            try await server.write([.nagCompleted], by: person, in: family.id)
            try await server.write([.nagCompleted], by: family.child, in: family.id)
            // What a backup holds: entries, sealed bodies and wrapped keys.
            try await server.sql(
                """
                CREATE TABLE backup AS SELECT e.commit, e.actor, p.salt, p.body, p.key_id, k.master, k.wrapped
                FROM audit_entry e JOIN audit_payload p USING (family_id, n) JOIN audit_subject_key k ON k.id = p.key_id
                WHERE e.family_id = \(family.id)
                """)
            let (url, clock) = (server.database.url, server.clock)
            let old = try #require(TestServer.auditKeyring)
            let (next, both) = (try Self.keys(["5a"], ["c3"], next: "99"), try Self.keys(["5a"], ["99", "c3"]))
            let new = try Self.keys(["5a"], ["99"])
            func readable(_ table: SQL, _ keys: AuditKeyring) async throws -> Set<Pseudonym> {
                Set(
                    try await server.database.rows("SELECT * FROM \(table)") { row throws(PostgresError) in
                        let isRead = try Sealing(keys, random: SystemRandomness()).openBody(of: row).bytes != nil
                        return isRead ? try row["actor"] as Pseudonym : nil
                    }.compactMap(\.self))
            }
            _ = try await Erasure(of: person.id).run(databaseURL: url, keys: old, isDryRun: false, clock: clock)
            let everybody: Set = [person.pseudonym, family.child.pseudonym]
            #expect(try await readable("backup", old) == everybody)
            // A server with the next key still wraps with the old one, and so does one that knows no other.
            #expect(next.masterKeys.first == old.masterKeys.first && next.masterKeys.count == 2)
            #expect(try await Rewrapping.run(databaseURL: url, keys: both, batch: 1) > 1)
            try await server.write([.nagCompleted], by: family.secondGuardian, in: family.id)
            #expect(try await Rewrapping.keyCounts(databaseURL: url).count == 2)
            try await Rewrapping.retireOldMasters(databaseURL: url, keys: both)
            try await Rewrapping.retireOldMasters(databaseURL: url, keys: both)
            #expect(try await Rewrapping.keyCounts(databaseURL: url).map(\.master) == new.masterKeys.map(\.id))
            // The backup needs the key that is no more; of those who were not erased everything can be read as before.
            #expect(try await readable("backup", new).isEmpty)
            let live: SQL = """
                (SELECT e.commit, e.actor, p.salt, p.body, p.key_id, k.master, k.wrapped
                 FROM audit_entry e LEFT JOIN audit_payload p USING (family_id, n) LEFT JOIN audit_subject_key k ON k.id = p.key_id
                 WHERE e.family_id = \(family.id)) live
                """
            #expect(
                try await readable(live, new).isSuperset(of: [family.child.pseudonym, family.secondGuardian.pseudonym]))
            #expect(try await !readable(live, new).contains(person.pseudonym))
            // A server that was forgotten is refused; nothing is sealed that nobody could read.
            let refused = await #expect(throws: PostgresError.self) {
                try await server.write([.nagCompleted], by: family.participant, in: family.id)
            }
            #expect(refused?.sqlState == "23514")
        }
    }

    @Test("an export resumes behind any line and joins to the whole")
    func resumed() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for _ in 0..<5 { try await server.write([.aiCoaching], by: family.guardian, in: family.id) }
            try await server.waitUntilSequenced()
            let whole = try await server.export(family.id, as: family.guardian)
            func entries(_ lines: [AuditExportLine]) -> [AuditExportLine] {
                lines.filter { if case .entry = $0 { true } else { false } }
            }
            for after in 1...4 {
                let rest = try await server.export(family.id, after: after, as: family.guardian)
                #expect(entries(rest) == Array(entries(whole).dropFirst(after)))
                let joined =
                    Array(whole.prefix { if case .header = $0 { true } else { false } })
                    + entries(whole).prefix(after) + rest
                #expect(verdict(joined).isSound)
            }
            let admin = try await server.admin()
            for after in [1_000_000, Int.max] {
                #expect(entries(try await server.export(family.id, after: after, as: family.guardian)).isEmpty)
                let places = try await server.export(nil, after: after, as: admin).compactMap {
                    if case .entry(let entry) = $0 { entry.position } else { nil }
                }
                #expect(places.isEmpty, "but for those that the log does not hold yet")
            }
        }
    }

    @Test("a key file with an error is refused with the error's place, and one with two signing keys is read")
    func keyFile() throws {
        let line = String(repeating: "5a", count: 32)
        for (text, error) in [
            ("", "it must hold one line “origin NAME”"), ("origin a\nsign \(line)\n", "it holds no line “seal”"),
            ("origin a\nseal \(line)\n", "it holds no line “sign”"),
            ("origin a\nsign \(line)x\nseal \(line)\n", "line 2 is neither"),
            ("origin a\n\nsign \(line)\nseal \(line.dropLast(2))\n", "line 4 is neither"),
            ("origin a+b\nsign \(line)\nseal \(line)\n", "it must hold one line “origin NAME”"),
            ("sign \(line)\nseal \(line)\n", "it must hold one line “origin NAME”"),
        ] {
            let fault = #expect(throws: AuditKeyring.Fault.self) { try AuditKeyring(text: text) }
            #expect(fault?.description.hasPrefix(error) == true, "\(text): \(fault?.description ?? "read")")
        }
        let keys = try AuditKeyring(
            text: "# c\n\norigin a\nsign \(line)\nsign \(line.replacing("5", with: "6"))\nseal \(line)\n")
        #expect(keys.origin == "a" && keys.signingKeys.count == 2)
        #expect(keys.handovers.count == 2 && keys.masterKeys.count == 1)
        #expect(keys.signingKeys[0].verifier != keys.signingKeys[1].verifier)
    }
}
