import Audit
import Contract
import Domain
import Foundation
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// What somebody does to the entries.
struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    let change: @Sendable (inout [Forger.Line], FamilyID) -> Void

    var testDescription: String { name }

    /// The lines of the family in the list, in order.
    private static func places(_ lines: [Forger.Line], _ family: FamilyID) -> [Int] {
        lines.indices.filter { lines[$0].entry.family == family }
    }

    static let all: [Attack] = [
        Attack(name: "edit metadata") { lines, family in
            lines[places(lines, family)[2]].entry.act.kind = "nag.withdrawn"
        },
        Attack(name: "edit payload") { lines, family in
            let place = places(lines, family)[2]
            lines[place].plain = AuditBody(["who": "somebody else"]).canonicalBytes
            lines[place].body = lines[place].body.map { $0.dropLast() + [$0[$0.count - 1] ^ 1] }
        },
        Attack(name: "delete in the middle") { lines, family in lines.remove(at: places(lines, family)[3]) },
        Attack(name: "truncate the tail") { lines, family in
            for place in places(lines, family).suffix(2).reversed() { lines.remove(at: place) }
        },
        Attack(name: "reorder") { lines, family in
            let (first, second) = (places(lines, family)[2], places(lines, family)[3])
            (lines[first].entry.act, lines[second].entry.act) = (lines[second].entry.act, lines[first].entry.act)
            lines[first].entry.act.kind = "nag.first"
        },
        Attack(name: "insert backdated") { lines, family in
            let place = places(lines, family)[2]
            var line = lines[place]
            line.entry.act.kind = "consent.granted"
            line.entry.number = 99
            lines.insert(line, at: place)
        },
        Attack(name: "swap payloads") { lines, family in
            let (first, second) = (places(lines, family)[2], places(lines, family)[3])
            (lines[first].salt, lines[second].salt) = (lines[second].salt, lines[first].salt)
            (lines[first].body, lines[second].body) = (lines[second].body, lines[first].body)
            (lines[first].plain, lines[second].plain) = (lines[second].plain, lines[first].plain)
        },
        Attack(name: "swap commitments") { lines, family in
            let (first, second) = (places(lines, family)[2], places(lines, family)[3])
            let kept = lines[first].entry.act.commitment
            lines[first].entry.act.commitment = lines[second].entry.act.commitment
            lines[second].entry.act.commitment = kept
            (lines[first].salt, lines[second].salt) = (lines[second].salt, lines[first].salt)
        },
        Attack(name: "clock rollback") { lines, family in
            let place = places(lines, family)[4]
            lines[place].entry.at = lines[place].entry.at - .hours(1)
            lines[place].entry.act.kind = "nag.undone"
        },
        Attack(name: "move a row to another family") { lines, family in
            let other = lines.first { $0.entry.family != family && $0.entry.family != .outside }
            guard let other else { return }
            let place = places(lines, family)[3]
            lines[place].entry.family = other.entry.family
            lines[place].entry.number = 99
        },
        Attack(name: "duplicate an entry") { lines, family in
            let place = places(lines, family)[3]
            var line = lines[place]
            line.entry.number = 99
            lines.insert(line, at: place)
        },
        Attack(name: "remove a whole family") { lines, family in lines.removeAll { $0.entry.family == family } },
    ]
}

@Suite("Attacks on the audit log")
struct AttackTests {
    private static func run(_ body: @Sendable (AttackScene) async throws -> Void) async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            try await body(try await AttackScene(server))
        }
    }

    @Test("an attack that changes rows alone is caught by the check of all audit logs", arguments: Attack.all)
    func plain(attack: Attack) async throws {
        try await Self.run { scene in
            try await Forger(server: scene.server).forge(.plain) { attack.change(&$0, scene.family.id) }
            let verdicts = try await scene.verdicts()
            #expect(verdicts[0].finding != nil, "all audit logs")
            #expect(verdicts[1].finding != nil || attack.name == "duplicate an entry", "the family's")
            try await scene.writeExport("plain \(attack.name)", expecting: 1)
        }
    }

    @Test("an attack that recomputes the chain is caught by the Merkle log", arguments: Attack.all)
    func rechained(attack: Attack) async throws {
        try await Self.run { scene in
            try await Forger(server: scene.server).forge(.rechained) { attack.change(&$0, scene.family.id) }
            let verdicts = try await scene.verdicts()
            #expect(verdicts[0].finding != nil, "all audit logs")
            try await scene.writeExport("rechained \(attack.name)", expecting: 1)
        }
    }

    @Test("an attack that re-signs with the stolen key is caught by a witness alone", arguments: Attack.all)
    func resigned(attack: Attack) async throws {
        try await Self.run { scene in
            try await Forger(server: scene.server).forge(.resigned) { attack.change(&$0, scene.family.id) }
            let alone = try await scene.verdicts()[0]
            #expect(alone.isSound, "without a copy elsewhere it cannot be seen: \(alone)")
            let witnessed = try await scene.verdicts(witnessed: true)[0]
            #expect(witnessed.finding != nil)
            try await scene.writeExport("resigned \(attack.name)", witnessed: true, expecting: 1)
        }
    }

    @Test("the verdict names the first bad entry")
    func named() async throws {
        try await Self.run { scene in
            let id = scene.family.id
            try await Forger(server: scene.server).disableTriggers()
            try await scene.server.sql("UPDATE audit_entry SET kind = 'x' WHERE family_id = \(id) AND n = 5")
            for verdict in try await scene.verdicts() {
                #expect(verdict.finding?.family == id && verdict.finding?.number == 5)
                #expect(verdict.code == "altered_entry")
            }
            let answer = try await scene.server.call(
                API.verifyAuditLog, AuditScopeQuery(familyID: id), as: scene.family.guardian)
            #expect(answer.verdict == "tampered" && answer.n == 5 && answer.familyID == id)
        }
    }

    // MARK: The log and its checkpoints

    @Test(
        "a change of the Merkle log's own tables is caught",
        arguments: [
            ("tail cut with its leaves and checkpoints", "DELETE FROM audit_leaf WHERE position >= 8"),
            ("a leaf changed", "UPDATE audit_leaf SET hash = sha256('x') WHERE position = 3"),
            ("a leaf removed", "DELETE FROM audit_leaf WHERE position = 3"),
            (
                "leaves passed off as a node",
                """
                UPDATE audit_leaf SET hash = (SELECT sha256('\\x01'::bytea || a.hash || b.hash) FROM audit_leaf a, audit_leaf b
                    WHERE a.position = 0 AND b.position = 1) WHERE position = 0
                """
            ),
            ("an entry taken out of the log", "DELETE FROM audit_leaf WHERE position = 11"),
            (
                "a checkpoint of another origin",
                "UPDATE audit_checkpoint SET note = replace(note, 'nagz.test/log', 'other/log')"
            ),
            ("a checkpoint's size", "UPDATE audit_checkpoint SET note = replace(note, E'\\n12\\n', E'\\n11\\n')"),
            ("erasure without its record", "DELETE FROM audit_payload WHERE n = 2"),
            (
                "a bit of a sealed body",
                "UPDATE audit_payload SET body = set_byte(body, 30, get_byte(body, 30) # 1) WHERE n = 1"
            ),
            ("a person's key", "DELETE FROM audit_subject_key"),
        ])
    func log(name: String, sql: String) async throws {
        try await Self.run { scene in
            try await Forger(server: scene.server).disableTriggers()
            try await scene.server.sql(SQL(unsafeSQL: sql))
            let verdict = try await scene.verdicts(witnessed: true)[0]
            #expect(verdict.finding != nil, "\(verdict)")
            try await scene.writeExport(name, witnessed: true, expecting: 1)
        }
    }

    @Test("a corrupt tile is caught, and the proofs that need it do not hold")
    func tile() async throws {
        try await Self.run { scene in
            let server = scene.server
            try await server.addEntries(300, in: scene.family.id)
            try await server.runRound()
            #expect(try await scene.verdicts()[0].isSound)
            let tile = try await server.call(API.getAuditTile, TilePath(level: "0", first: "000"))
            #expect(tile.bytes.count == 256 * 32)
            try await Forger(server: server).disableTriggers()
            try await server.sql("UPDATE audit_node SET hash = sha256('x')")
            let verdicts = try await scene.verdicts()
            #expect(verdicts[0].code == "node_differs")
            #expect(verdicts[1].code == "bad_inclusion")
        }
    }

    @Test("an old checkpoint that is served as fresh is caught")
    func stale() async throws {
        try await Self.run { scene in
            let server = scene.server
            // The log goes on for half an hour; what is shown is as it was.
            let before = try await server.export(nil, as: scene.admin).dropLast(2)
            server.clock.advance(by: .minutes(30))
            try await server.write([.nagNoteAdded], by: scene.family.guardian, in: scene.family.id)
            try await server.runRound()
            let later = try await server.call(API.getAuditCheckpoint).text
            var shown = Array(before)
            if case .header(var header) = shown[0] {
                header.madeAt = server.clock.now()
                shown[0] = .header(header)
            }
            shown = shown.filter { line in
                switch line {
                case .entry(let entry): entry.position != nil
                case .clock: false
                default: true
                }
            }
            shown += [.checkpoint(note: scene.witness), .end(entries: 12, clocks: nil)]
            if case .incomplete = verdict(shown) {} else { Issue.record("alone: \(verdict(shown))") }
            if case .incomplete = verdict(shown, witnesses: [later]) {} else { Issue.record("\(verdict(shown))") }
        }
    }

    @Test("two histories shown to two readers, and a database restored from a backup, are caught by a witness")
    func fork() async throws {
        try await Self.run { scene in
            let server = scene.server
            try await Forger(server: server).forge(.resigned) { lines in
                lines.removeAll { $0.entry.family == scene.family.id && $0.entry.number > 6 }
            }
            // The other reader's history goes on, until it is as long as the first.
            server.clock.advance(by: .seconds(30))
            try await server.write([.nagCreated], by: scene.family.stranger, in: scene.family.otherFamilyID)
            try await server.write([.nagCreated], by: scene.family.stranger, in: scene.family.otherFamilyID)
            try await server.runRound()
            let lines = try await server.export(nil, as: scene.admin)
            #expect(verdict(lines).isSound)
            #expect(verdict(lines, witnesses: [scene.witness]).code == "witness_differs")
            let theirs = try await server.call(API.getAuditCheckpoint).text
            #expect(verdict(lines, witnesses: [scene.witness, theirs]).finding != nil)
        }
    }

    @Test("a log that is signed with a substituted key is caught")
    func key() async throws {
        try await Self.run { scene in
            let keys = try #require(TestServer.auditKeyring)
            let thief = try #require(SigningKey(name: keys.origin, seed: [UInt8](repeating: 1, count: 32)))
            let lines = try await scene.server.export(nil, as: scene.admin)
            let forged = lines.map { line -> AuditExportLine in
                switch line {
                case .checkpoint(let text):
                    guard let note = SignedNote(text) else { return line }
                    return .checkpoint(note: SignedNote(note.text, signedBy: [thief]).fullText)
                case .header(var header):
                    let handover = TrustedKeys.makeHandover(from: thief, to: thief.verifier)
                    header.keys = [AuditKey(verifier: thief.verifier.text, handover: handover.fullText)]
                    return .header(header)
                default: return line
                }
            }
            #expect(verdict(lines).isSound)
            #expect(verdict(forged).code == "untrusted_checkpoint")
            #expect(verdict(lines, pinned: [thief.verifier]).code == "untrusted_checkpoint")
        }
    }

    @Test("a forged prune record, and one that comes too early, are caught", arguments: [false, true])
    func prune(withStolenKey: Bool) async throws {
        try await Self.run { scene in
            let (server, id) = (scene.server, scene.family.id)
            let keys = try #require(TestServer.auditKeyring)
            let thief = try #require(SigningKey(name: keys.origin, seed: [UInt8](repeating: 1, count: 32)))
            let lines = try await Forger(server: server).lines()
            let last = try #require(lines.first { $0.entry.family == id && $0.entry.number == 3 }?.entry)
            let record = Prune(
                origin: keys.origin, family: id, lastNumber: 3, lastHash: last.hash, lastTime: last.at,
                time: server.clock.now())
            let note = SignedNote(record.text, signedBy: withStolenKey ? keys.signingKeys : [thief])
            try await Forger(server: server).disableTriggers()
            try await server.sql(PruneStatements.insert(record, note))
            try await server.sql("DELETE FROM audit_entry WHERE family_id = \(id) AND n <= 3")
            try await server.sql("DELETE FROM audit_payload WHERE family_id = \(id) AND n <= 3")
            for verdict in try await scene.verdicts() {
                #expect(verdict.code == (withStolenKey ? "too_early_pruned" : "bad_prune"))
            }
        }
    }

    @Test("an entry that is not sequenced in time is reported as never_sequenced")
    func neverSequenced() async throws {
        try await Self.run { scene in
            let server = scene.server
            try await server.write([.nagNoteAdded], by: scene.family.guardian, in: scene.family.id)
            #expect(try await scene.verdicts()[0].isSound)
            server.clock.advance(by: .seconds(6))
            #expect(try await scene.verdicts()[0].code == "never_sequenced")
            #expect(try await scene.verdicts()[1].code == "never_sequenced")
        }
    }

    @Test("an export that is cut off, at any line, is never sound")
    func cut() async throws {
        try await Self.run { scene in
            let lines = try await scene.server.export(nil, as: scene.admin)
            for count in 0..<lines.count { #expect(!verdict(Array(lines.prefix(count))).isSound) }
            #expect(verdict(lines, witnesses: [scene.witness]).isSound)
            try await scene.writeExport("untouched", witnessed: true, expecting: 0)
        }
    }
}
