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

/// Somebody who may do everything with the database, and has neither the keys nor the machine of the server; and
/// servers that are started again afterwards.
@Suite("A restarted server")
struct RestartTests {
    /// What is done to the log's tables, after the chains were made to fit.
    struct LogAttack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let statements: [String]
    }

    private static let attacks = [
        LogAttack(
            testDescription: "the log emptied, to be made anew",
            statements: ["DELETE FROM audit_leaf", "DELETE FROM audit_node", "DELETE FROM audit_checkpoint"]),
        LogAttack(
            testDescription: "the tail cut with its leaves and checkpoints",
            statements: [
                "DELETE FROM audit_entry e USING audit_leaf l WHERE e.family_id = l.family_id AND e.n = l.n AND position >= 6",
                "DELETE FROM audit_leaf WHERE position >= 6", "DELETE FROM audit_checkpoint WHERE size > 6",
            ]),
        LogAttack(
            testDescription: "the newest checkpoints taken, the leaves left",
            statements: ["DELETE FROM audit_checkpoint WHERE size > 6"]),
        LogAttack(testDescription: "all checkpoints taken", statements: ["DELETE FROM audit_checkpoint"]),
        LogAttack(
            testDescription: "a leaf changed, and all checkpoints taken",
            statements: ["UPDATE audit_leaf SET hash = sha256('x') WHERE position = 2", "DELETE FROM audit_checkpoint"]),
        LogAttack(
            testDescription: "a leaf added by hand",
            statements: ["INSERT INTO audit_leaf VALUES (12, gen_random_uuid(), 1, sha256('x'))"]),
    ]

    /// A scene whose log one instance has signed and remembers in the file.
    private static func run(
        _ body: @Sendable (AttackScene, CheckpointFile) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let file = CheckpointFile(path: folder + "/checkpoint")
            try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
                let scene = try await AttackScene(server)
                try await server.runRound(file: file)
                try #require(try file.read()?.checkpoint.size == 12)
                try await body(scene, file)
            }
        }
    }

    private static func checkpoints(_ server: TestServer) async throws -> [String] {
        try await server.database.rows("SELECT note FROM audit_checkpoint ORDER BY size, at") { try $0["note"] }
    }

    @Test(
        "a restarted server signs no log that does not extend what it signed, and its health stays broken",
        arguments: attacks)
    func staysBroken(attack: LogAttack) async throws {
        try await Self.run { scene, file in
            let server = scene.server
            try await Forger(server: server).forge(.rechained) { Attack.all[0].change(&$0, scene.family.id) }
            for statement in attack.statements { try await server.sql(SQL(unsafeSQL: statement)) }
            let (kept, left) = (try file.read(), try await Self.checkpoints(server))
            for _ in 0..<2 {
                #expect(try await server.stateOfRestarted(file, scene.family.guardian) == "broken")
                try await server.write([.nagCreated], by: scene.family.guardian, in: scene.family.id)
                await #expect(throws: Sequencer.Fault.self) { try await server.runRound(file: file) }
            }
            #expect(try await Self.checkpoints(server) == left, "nothing was signed")
            #expect(try file.read() == kept)
        }
    }

    @Test("a restarted server refuses a log that was made anew and signed with the stolen key", arguments: Attack.all)
    func stolenKey(attack: Attack) async throws {
        try await Self.run { scene, file in
            try await Forger(server: scene.server).forge(.resigned) { attack.change(&$0, scene.family.id) }
            #expect(try await scene.server.stateOfRestarted(file, scene.family.guardian) == "broken")
        }
    }

    @Test("a restarted server goes on with its own log")
    func goesOn() async throws {
        try await Self.run { scene, file in
            #expect(try await scene.server.stateOfRestarted(file, scene.family.guardian) == "current")
            try await scene.server.write([.nagCreated], by: scene.family.guardian, in: scene.family.id)
            try await scene.server.runRound(file: file)
            #expect(try file.read()?.checkpoint.size == 13)
            #expect(try await file.read()?.note == Self.checkpoints(scene.server).last)
            // Another instance went on meanwhile, and died before it wrote its file.
            try await scene.server.write([.nagCreated], by: scene.family.guardian, in: scene.family.id)
            try await scene.server.runRound()
            #expect(try await scene.server.stateOfRestarted(file, scene.family.guardian) == "current")
            #expect(try file.read()?.checkpoint.size == 14)
        }
    }

    @Test("an instance that was shown another log than its neighbour stays broken, however long the other log grows")
    func fork() async throws {
        try await Self.run { scene, file in
            let server = scene.server
            let older = CheckpointFile(path: file.path + ".older")
            let start = try #require(try file.read())
            try older.overwrite(with: start)
            try await server.write([.nagCreated], by: scene.family.guardian, in: scene.family.id)
            try await server.runRound(file: file)
            try await Forger(server: server).disableTriggers()
            for table in ["audit_leaf WHERE position >= 12", "audit_checkpoint WHERE size > 12"] {
                try await server.sql(SQL(unsafeSQL: "DELETE FROM \(table)"))
            }
            try await server.sql(
                "UPDATE audit_entry SET hash = sha256('x') WHERE n = 9 AND family_id = \(scene.family.id)")
            for _ in 0..<3 {
                try await server.write([.nagCreated], by: scene.family.stranger, in: scene.family.otherFamilyID)
                try await server.runRound(file: older)
                await #expect(throws: Sequencer.Fault.self) { try await server.runRound(file: file) }
            }
            #expect(try older.read()?.checkpoint.size == 16)
            #expect(try file.read()?.checkpoint.size == 13)
        }
    }

    @Test("an operator accepts another log by its root, which is an entry; then it goes on")
    func accepted() async throws {
        try await Self.run { scene, file in
            let server = scene.server
            try await Forger(server: server).disableTriggers()
            for statement in Self.attacks[1].statements { try await server.sql(SQL(unsafeSQL: statement)) }
            let keys = try #require(TestServer.auditKeyring)
            let acceptance = RestoredLogAcceptance(
                databaseURL: TestLogin.owner.url(server.database.url), keys: keys, file: file)
            let heads = try await acceptance.readHeads()
            #expect(heads.remembered?.size == 12 && heads.storedSize == 6 && !heads.isContinuation)
            await #expect(throws: RestoredLogAcceptance.Fault.self) {
                _ = try await acceptance.accept(root: MerkleHash.empty, clock: server.clock)
            }
            #expect(try await server.stateOfRestarted(file, scene.family.guardian) == "broken")
            _ = try await server.expectOnly(audit: ["log.accepted"]) {
                try await acceptance.accept(root: heads.storedRoot, clock: server.clock)
            }
            let note = try #require(try file.read())
            #expect(note.checkpoint.size == 6 && note.checkpoint.root == heads.storedRoot)
            #expect(try CheckpointFile(path: file.path + ".replaced").read()?.checkpoint.size == 12)
            #expect(try await acceptance.readHeads().isContinuation)
            #expect(try await server.stateOfRestarted(file, scene.family.guardian) == "current")
            try await server.runRound(file: file)
            #expect(try file.read()?.checkpoint.size == 7, "the entry itself is in the log")
        }
    }

    @Test("an operator cannot accept a log that is shorter than its newest checkpoint says")
    func shorterThanItsCheckpoint() async throws {
        try await Self.run { scene, file in
            let server = scene.server
            try await Forger(server: server).disableTriggers()
            try await server.sql("DELETE FROM audit_leaf WHERE position >= 6")
            let acceptance = RestoredLogAcceptance(
                databaseURL: TestLogin.owner.url(server.database.url), keys: try #require(TestServer.auditKeyring),
                file: file)
            let root = try await acceptance.readHeads().storedRoot
            await #expect {
                _ = try await acceptance.accept(root: root, clock: server.clock)
            } throws: { error in
                guard case .checkpointAhead(12, of: 6)? = error as? RestoredLogAcceptance.Fault else { return false }
                return true
            }
            #expect(try file.read()?.checkpoint.size == 12)
        }
    }

    @Test("a running server goes on as soon as the log was accepted")
    func acceptedWhileRunning() async throws {
        try await Self.run { scene, file in
            let server = scene.server
            try await Forger(server: server).disableTriggers()
            for statement in Self.attacks[0].statements { try await server.sql(SQL(unsafeSQL: statement)) }
            let keys = try #require(TestServer.auditKeyring)
            let acceptance = RestoredLogAcceptance(
                databaseURL: TestLogin.owner.url(server.database.url), keys: keys, file: file)
            let states = try await server.stateOfRestarted(file, scene.family.guardian) {
                let heads = try await acceptance.readHeads()
                _ = try await acceptance.accept(root: heads.storedRoot, clock: server.clock)
            }
            #expect(states == "current")
        }
    }

    @Test("a restarted server with another key goes on if its checkpoint file knows the log")
    func otherKey() async throws {
        try await Self.run { scene, file in
            let key = String(repeating: "77", count: 32)
            let keys = try AuditKeyring(
                text: "origin nagz.test/log\nsign \(key)\nseal \(String(repeating: "c3", count: 32))\n")
            await #expect(throws: Sequencer.Fault.self) { try await scene.server.runRound(keys) }
            try await scene.server.write([.nagCreated], by: scene.family.guardian, in: scene.family.id)
            try await scene.server.runRound(keys, file: file)
            #expect(try file.read()?.checkpoint.size == 13)
        }
    }

    @Test("a server signs nothing more while a checkpoint cannot be written to its file")
    func unwritable() async throws {
        try await Self.run { scene, file in
            let server = scene.server
            let keys = try #require(TestServer.auditKeyring)
            let folder = String(file.path.dropLast("/checkpoint".count))
            let clock = server.clock
            let sizes = try await server.database.run { database in
                let sequencer = Sequencer(
                    database: database, keys: keys, clock: clock, status: CheckpointStatus(isOn: true), log: Log(.off),
                    memory: CheckpointMemory(file))
                _ = try await sequencer.runRound()
                var sizes: [Int64] = []
                for step in 0..<4 {
                    if step == 0 { try FileManager.default.moveItem(atPath: folder, toPath: folder + "-away") }
                    if step == 3 { try FileManager.default.moveItem(atPath: folder + "-away", toPath: folder) }
                    // What comes due is one checkpoint in each round.
                    clock.advance(by: .minutes(6))
                    do { _ = try await sequencer.runRound() } catch is CheckpointFile.Fault {}
                    sizes.append(try await database.query("SELECT count(*) AS n FROM audit_checkpoint").onlyRow()["n"])
                }
                return sizes
            }
            #expect(
                sizes == [sizes[0], sizes[0], sizes[0], sizes[0] + 1], "one without the file, and none until it is back"
            )
        }
    }
}

extension TestServer {
    /// Starts a server that keeps the log and remembers it in the file.
    /// - Parameters:
    ///   - reader: asks for the state; a guardian.
    ///   - meanwhile: done once the log is broken; then another state is waited for.
    /// - Returns: the state of the log, which its health tells as well.
    fileprivate func stateOfRestarted(
        _ file: CheckpointFile, _ reader: TestPerson, meanwhile: (@Sendable () async throws -> Void)? = nil
    ) async throws -> String {
        var configuration = Configuration(
            databaseURL: TestLogin.server.url(database.url), tokenKeys: [Self.tokenKey], loops: 1)
        configuration.databaseConnections = 1
        configuration.auditKeyring = Self.auditKeyring
        configuration.checkpointFile = file
        configuration.enforcesRateLimits = false
        configuration.runsBackgroundCheck = false
        configuration.runsScheduler = false
        configuration.runsDeliveries = false
        configuration.logLevel = .off
        let server = try await NagzServer(configuration, clock: clock, random: random)
        let port = try await server.start(host: "127.0.0.1", port: 0)
        let head = "GET /api/v1/audit/status HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        let request = Array("\(head)Authorization: Bearer \(token(reader))\r\n\r\n".utf8)
        var (state, deadline, pending) = ("late", ContinuousClock.now + .seconds(20), meanwhile)
        while ContinuousClock.now < deadline {
            state = try await RawClient.send(request, to: port).json?["state"]?.stringValue ?? "none"
            if state == "broken", let act = pending {
                try await act()
                (pending, deadline) = (nil, ContinuousClock.now + .seconds(20))
            } else if state == "current" || state == "broken" && meanwhile == nil {
                break
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        await server.shutDown(within: .seconds(2))
        return state
    }
}
