import Audit
import Contract
import Domain
import Postgres
import SQL
import Synchronization
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The sequencer")
struct SequencerTests {
    private struct Killed: Error {}

    /// No sequencer runs but those that a test starts.
    private static func quietly(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, body)
    }

    private static func places(_ server: TestServer) async throws -> [String] {
        try await server.database.rows(
            "SELECT position || ' ' || family_id || ' ' || n AS place FROM audit_leaf ORDER BY position"
        ) { try $0["place"] }
    }

    private static func size(_ server: TestServer) async throws -> [Int64] {
        try await server.database.rows("SELECT max(size) AS size FROM audit_checkpoint") { try $0["size"] }
    }

    @Test("the sequencer brings all chains into one signed log, each in its order")
    func sequences() async throws {
        try await Self.quietly { server in
            let family = try await server.family()
            for _ in 0..<3 {
                try await server.write([.aiCoaching, .aiDigest], by: family.guardian, in: family.id)
                try await server.write([.aiPatterns], by: family.stranger, in: family.otherFamilyID)
            }
            try await server.runRound()
            #expect(try await Self.places(server).count == 9)
            let disorder: [Int64] = try await server.database.rows(
                """
                SELECT count(*) AS wrong FROM (
                    SELECT n - lag(n, 1, 0) OVER (PARTITION BY family_id ORDER BY position) AS step FROM audit_leaf
                ) s WHERE step <> 1
                """
            ) { try $0["wrong"] }
            #expect(disorder == [0])
            let admin = try await server.admin()
            let lines = try await server.export(nil, as: admin)
            // The reading itself came later and has no place yet.
            #expect(verdict(lines).isSound)
            let before = try await Self.places(server)
            try await server.runRound()
            #expect(try await Self.places(server).prefix(9) == before[...])
        }
    }

    @Test("a sequencer that dies at any step goes on as if nothing had happened", arguments: Sequencer.Point.allCases)
    func dies(step: Sequencer.Point) async throws {
        try await Self.quietly { server in
            let family = try await server.family()
            try await server.write([.aiCoaching], by: family.guardian, in: family.id)
            try await server.runRound()
            let before = try await Self.places(server)
            try await server.write([.aiDigest, .aiPatterns], by: family.guardian, in: family.id)
            await #expect(throws: Killed.self) {
                try await server.runRound(reach: { if $0 == step { throw Killed() } })
            }
            let left = try await Self.places(server)
            #expect(step == .committed ? left.count == 3 : left == before)
            #expect(try await Self.size(server) == [Int64(left.count)])
            try await server.runRound()
            #expect(try await Self.places(server).count == 3)
            #expect(verdict(try await server.export(family.id, as: family.guardian)).isSound)
        }
    }

    @Test("several sequencers at once sequence each entry once")
    func several() async throws {
        try await Self.quietly { server in
            let family = try await server.family()
            for round in 0..<5 {
                for _ in 0..<20 { try await server.write([.aiCoaching], by: family.guardian, in: family.id) }
                let others = try await TestDatabase(url: server.database.url, sessions: 4)
                let (clock, keys) = (server.clock, try #require(TestServer.auditKeyring))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            try await others.run { database in
                                let sequencer = Sequencer(
                                    database: database, keys: keys, clock: clock, status: CheckpointStatus(isOn: true),
                                    log: Log(.off))
                                _ = try await sequencer.runRound()
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                await others.close()
                #expect(try await Self.places(server).count == (round + 1) * 20)
            }
            #expect(verdict(try await server.export(family.id, as: family.guardian)).isSound)
        }
    }

    @Test("after a clock was ahead and is right again, no checkpoint claims an earlier time than the one before")
    func clockSetBack() async throws {
        try await Self.quietly { server in
            let family = try await server.family()
            server.clock.advance(by: .hours(1))
            try await server.write([.aiCoaching], by: family.stranger, in: family.otherFamilyID)
            try await server.runRound()
            server.clock.advance(by: .hours(-1))
            try await server.write([.aiCoaching], by: family.guardian, in: family.id)
            try await server.runRound()
            #expect(try await Self.size(server) == [2])
            #expect(verdict(try await server.export(nil, as: try await server.admin())).isSound)
        }
    }

    @Test("the sequencer completes subtrees of 256 leaves as it goes")
    func subtrees() async throws {
        try await Self.quietly { server in
            let family = try await server.family()
            for count in [200, 56, 300] {
                try await server.addEntries(count, in: family.id)
                // More than one round takes of one family.
                try await server.runRound()
                try await server.runRound()
            }
            let nodes: [String] = try await server.database.rows(
                "SELECT level || '/' || position AS node FROM audit_node ORDER BY 1"
            ) { try $0["node"] }
            #expect(nodes == ["1/0", "1/1"])
            let lines = try await server.export(nil, as: try await server.admin())
            #expect(verdict(lines).isSound)
            #expect(lines.filter { if case .node = $0 { true } else { false } }.count == 2)
        }
    }

    @Test(
        "the sequencer signs nothing over a log that was changed",
        arguments: ["leaf", "first leaf", "tail", "checkpoint"])
    func refuses(what: String) async throws {
        try await Self.quietly { server in
            let family = try await server.family()
            for _ in 0..<4 { try await server.write([.aiCoaching], by: family.guardian, in: family.id) }
            try await server.runRound()
            try await server.sql("SET session_replication_role = replica")
            try await server.sql("ALTER TABLE audit_leaf DISABLE TRIGGER ALL")
            try await server.sql("ALTER TABLE audit_checkpoint DISABLE TRIGGER ALL")
            switch what {
            case "leaf": try await server.sql("UPDATE audit_leaf SET hash = sha256('x') WHERE position = 1")
            case "tail": try await server.sql("DELETE FROM audit_leaf WHERE position = 3")
            case "checkpoint":
                try await server.sql("UPDATE audit_checkpoint SET note = replace(note, E'\\n4\\n', E'\\n3\\n')")
            default: try await server.sql("DELETE FROM audit_leaf WHERE position = 0")
            }
            try await server.write([.aiDigest], by: family.guardian, in: family.id)
            await #expect(throws: Sequencer.Fault.self) { try await server.runRound() }
        }
    }

    @Test("a server sequences its own log within a second, and its status says so")
    func runs() async throws {
        try await TestServer.run { server in
            server.clock.set(to: SystemClock().now())
            let family = try await server.family()
            try await server.write([.aiCoaching], by: family.guardian, in: family.id)
            // The first round may have looked at the clock before it was set, and its checkpoint be of another time.
            let deadline = ContinuousClock.now + .seconds(300)
            var status = try await server.call(API.getAuditStatus, as: family.guardian)
            while status.size != 1 || status.state != "current", ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(20))
                status = try await server.call(API.getAuditStatus, as: family.guardian)
            }
            #expect(status.reader == "guardian" && status.familyID == family.id && status.state == "current")
            #expect(status.size == 1 && status.keys.count == 1 && status.origin == "nagz.test/log")
            let note = try await server.call(API.getAuditCheckpoint).text
            #expect(note == status.checkpoint)
            let ready = try await server.call(API.checkReadiness)
            #expect(ready.auditLog == "current")
            let metrics = try await server.metrics().text
            #expect(metrics.contains("nagz_audit_alarm 0") && metrics.contains("nagz_audit_log_entries 1"))
            let synced = try await server.call(API.syncEvents, SyncQuery(familyID: family.id), as: family.guardian)
            #expect(synced.checkpoint == note)
        }
    }

    @Test("a backlog of one family is taken over without pauses; until its end no entry counts as passed over")
    func backlog() async throws {
        try await Self.quietly { server in
            let family = try await server.family()
            let kinds = [AuditKind](repeating: .aiCoaching, count: 100)
            for _ in 0..<6 { try await server.write(kinds, by: family.guardian, in: family.id) }
            let (clock, keys) = (server.clock, try #require(TestServer.auditKeyring))
            let written = clock.now()
            clock.advance(by: .days(1))
            let head = CheckpointStatus(isOn: true)
            @Sendable func isStrict() -> Bool { head.verificationPolicy.exposureWindow == .seconds(30) }
            #expect(!isStrict())
            let rounds = try await server.database.run { database in
                let sequencer = Sequencer(
                    database: database, keys: keys, clock: clock, status: head, log: Log(.off))
                var rounds: [Bool] = []
                for _ in 0..<2 {
                    rounds.append(try await sequencer.runRound())
                    guard rounds.count == 1 else { continue }
                    #expect(try #require(head.current.exposedSince) < written + .minutes(1) && !isStrict())
                }
                return rounds
            }
            #expect(rounds == [true, false] && head.current.exposedSince == nil && isStrict())
            #expect(try await Self.places(server).count == 600)
            let off = CheckpointStatus(isOn: false)
            #expect(off.verificationPolicy.exposureWindow == .seconds(30), "it has no rounds to wait for")
            head.update { ($0.isBehind, $0.fault) = (true, "the log has shrunk") }
            #expect(isStrict(), "a stopped sequencer catches up with nothing")
        }
    }

    @Test("while sequencer rounds fail, the exposure grows from the last one that did not")
    func failingRounds() async throws {
        try await Self.quietly { server in
            let (clock, keys) = (server.clock, try #require(TestServer.auditKeyring))
            let head = CheckpointStatus(isOn: true)
            let fails = Mutex(false)
            let exposures = try await server.database.run { database in
                let sequencer = Sequencer(
                    database: database, keys: keys, clock: clock, status: head, log: Log(.off),
                    reach: { _ in if fails.withLock({ $0 }) { throw Killed() } })
                func exposure() async -> Timestamp.Span {
                    do { _ = try await sequencer.runRound() } catch { sequencer.report(error) }
                    return head.current.exposure(at: clock.now())
                }
                var exposures = [await exposure()]
                fails.withLock { $0 = true }
                for _ in 0..<2 {
                    clock.advance(by: .minutes(1))
                    exposures.append(await exposure())
                }
                fails.withLock { $0 = false }
                exposures.append(await exposure())
                return exposures
            }
            #expect(exposures == [.seconds(0), .minutes(1), .minutes(2), .seconds(0)])
        }
    }

    @Test("the alarm goes off when checkpoints fail to come, entries wait, or the log is broken")
    func alarm() throws {
        let head = CheckpointStatus(isOn: true)
        let now = ManualClock.start
        func checkpoint(_ time: Timestamp) -> Checkpoint {
            Checkpoint(origin: "o", size: 1, root: MerkleHash.empty, time: time)
        }
        #expect(CheckpointStatus(isOn: false).alarm(at: now) == .off)
        #expect(head.alarm(at: now) == .late)
        head.update { $0.checkpoint = checkpoint(now) }
        #expect(head.alarm(at: now) == .none)
        #expect(head.alarm(at: now + CheckpointStatus.maxTimeWithoutCheckpoint) == .late)
        head.update { $0.exposedSince = now - .seconds(6) }
        #expect(head.alarm(at: now) == .late)
        head.update { $0.exposedSince = now - .seconds(4) }
        #expect(head.alarm(at: now) == .none)
        head.update { $0.lastSuccessAt = now - .seconds(31) }
        #expect(head.alarm(at: now) == .late)
        head.update { $0.fault = "broken" }
        #expect(head.alarm(at: now) == .broken)
    }
}
