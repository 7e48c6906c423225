import Audit
import Contract
import Domain
import JSON
import Postgres
import Reactor
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The background check of the audit log")
struct BackgroundCheckTests {
    /// Without rests: as fast as it goes.
    private static let pace = BackgroundCheck.Pace(
        restRatio: 0, shortestRest: .zero, longestRest: .milliseconds(1),
        pauseBetweenPasses: Timestamp.Span(microseconds: 0),
        pollInterval: .milliseconds(20), saveInterval: .zero)

    @Test("health and status report a finding of the background check until a full pass has none")
    func finding() async throws {
        try await TestServer.run(
            configure: {
                $0.runsBackgroundCheck = true
                $0.checkPace = Self.pace
            }, toleratesFaults: true, isOfActs: false
        ) { server in
            // Health compares this clock with the database's.
            server.clock.set(to: SystemClock().now())
            let family = try await LivedFamily(server)
            try await server.waitUntilSequenced()
            var newest: AuditCheckStatus?
            // A pass that began before the family was there is not the one.
            let deadline = ContinuousClock.now + .seconds(300)
            while newest?.lastEntries ?? 0 <= 10, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(20))
                try await server.wait(for: "explained")
                newest = try await server.call(API.getAuditStatus, as: family.guardian).check
            }
            let calm = try #require(newest)
            #expect(calm.state == "explained" && calm.lastFindings == 0 && calm.lastFamilies >= 2)
            #expect(calm.lastEntries > 10 && calm.lastFinishedAt != nil)
            #expect(try await server.metrics().text.contains("nagz_audit_check_alarm 0\n"))

            try await server.sql("UPDATE memberships SET role = 'guardian' WHERE role = 'participant'")
            try await server.wait(for: "unexplained")
            let told = try #require(try await server.call(API.getAuditStatus, as: family.guardian).check)
            // Which row of which family is for administrators.
            #expect(told.state == "unexplained" && told.firstFinding == nil)
            #expect(try await server.metrics().text.contains("nagz_audit_check_alarm 1\n"))
            let passes = try await server.passes()
            try await server.sql("UPDATE memberships SET role = 'participant' WHERE user_id = \(family.participant.id)")
            try await server.wait(for: "explained")
            #expect(try await server.passes() >= passes)
        }
    }

    @Test("one instance runs the background check, others learn its status, and one takes over when it is gone")
    func holder() async throws {
        try await TestServer.run { server in
            _ = try await LivedFamily(server)
            let (clock, random, keys) = (server.clock, server.random, try #require(TestServer.auditKeyring))
            let verdicts = try await server.checking { database in
                func check(_ status: PassStatus) -> BackgroundCheck {
                    BackgroundCheck(
                        database: database, keys: keys, clock: clock, random: random, status: status, log: Log(.off),
                        pace: Self.pace)
                }
                let (first, second) = (PassStatus(), PassStatus())
                let (one, other) = (check(first), check(second))
                try await one.runTurn()
                try await other.runTurn()
                let learned = second.current == first.current
                // The first is gone: its half minute is over.
                _ = try await database.query("UPDATE audit_pass SET held_until = 'epoch'")
                try await other.runTurn()
                try await one.runTurn()
                return (first.verdict, second.verdict, learned, first.current == second.current)
            }
            #expect(verdicts == (.explained, .explained, true, true))
        }
    }

    @Test("an instance that continues a pass keeps the reason for which the pass is incomplete")
    func continuedPass() async throws {
        try await TestServer.run { server in
            let (clock, random, keys) = (server.clock, server.random, try #require(TestServer.auditKeyring))
            let status = PassStatus()
            try await server.checking { database in
                let gone = RequestID(high: 1, low: 1)
                var progress = PassStatus.Status()
                progress.incompleteReason = "an entry of a later version"
                let statements: [SQL] = [
                    PassStatements.takeLease(gone), PassStatements.begin(gone, at: clock.now()),
                    PassStatements.saveAndExtendLease(gone, progress, after: nil),
                    "UPDATE audit_pass SET held_until = 'epoch'",
                ]
                for statement in statements { _ = try await database.query(statement) }
                try await BackgroundCheck(
                    database: database, keys: keys, clock: clock, random: random, status: status, log: Log(.off),
                    pace: Self.pace
                ).runTurn()
            }
            #expect(status.verdict == .incomplete)
            #expect(status.current?.lastPassIncompleteReason == "an entry of a later version")
        }
    }

    @Test("a family whose snapshot takes longer than a pass is held is checked by one instance")
    func longSnapshot() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            try await family.liveWithNags()
            // None of it has a leaf yet, so all of it is read in the snapshot.
            try await server.write(
                Array(repeating: .nagNoteAdded, count: 3 * ReconcileStatements.pageSize), by: family.child,
                in: family.id)
            // Each page takes eleven seconds by the clock of whoever checks.
            try await server.sql("CREATE TABLE renewals (held_until timestamptz, behind uuid)")
            try await server.sql(
                """
                CREATE FUNCTION note_renewal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    INSERT INTO renewals VALUES (NEW.held_until, NEW.behind); RETURN NULL;
                END $$
                """)
            try await server.sql(
                """
                CREATE TRIGGER note_renewal AFTER UPDATE ON audit_pass FOR EACH ROW
                WHEN (NEW.held_until > OLD.held_until) EXECUTE FUNCTION note_renewal()
                """)
            let (clock, random, keys) = (server.clock, server.random, try #require(TestServer.auditKeyring))
            try await server.checking { database in
                var pace = Self.pace
                pace.saveInterval = .seconds(5)
                var now = MonotonicTime.now()
                try await BackgroundCheck(
                    database: database, keys: keys, clock: clock, random: random, status: PassStatus(), log: Log(.off),
                    pace: pace,
                    monotonicNow: {
                        now = now + .seconds(11)
                        return now
                    }
                ).runTurn()
            }
            // While the family is read, what lies behind it is the family before; there are three pages of entries alone.
            let renewals = try await server.rows(
                """
                SELECT count(*) AS n FROM renewals
                WHERE behind IS DISTINCT FROM 'ffffffff-ffff-ffff-ffff-ffffffffffff'
                """)
            let families = try await server.rows("SELECT count(*) AS n FROM family_clock")
            let (kept, rests) = (renewals[0]["n"]?.integerValue ?? 0, families[0]["n"]?.integerValue ?? 0)
            #expect(kept >= rests + 1 + 4, "\(kept) renewals over \(rests) families")
        }
    }

    @Test("a pass that has lost its lease at its end is not reported as finished")
    func lostLease() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            // Another instance takes the lease before the result is stored.
            try await server.sql(
                """
                CREATE FUNCTION lose_lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$
                """)
            try await server.sql(
                """
                CREATE TRIGGER lose_lease BEFORE UPDATE ON audit_pass FOR EACH ROW
                WHEN (NEW.finished_at IS DISTINCT FROM OLD.finished_at) EXECUTE FUNCTION lose_lease()
                """)
            let (clock, random, keys) = (server.clock, server.random, try #require(TestServer.auditKeyring))
            let status = PassStatus()
            await #expect(throws: (any Error).self) {
                try await server.checking { database in
                    try await BackgroundCheck(
                        database: database, keys: keys, clock: clock, random: random, status: status, log: Log(.off),
                        pace: Self.pace
                    ).runTurn()
                }
            }
            #expect(status.current != nil && status.current?.finishedAt == nil)
        }
    }

    @Test("findings count at once, until a full pass of the background check has none")
    func verdicts() {
        var status = PassStatus.Status()
        #expect(status.verdict == .running)
        status.findings = 1
        #expect(status.verdict == .unexplained, "in the first pass")
        (status.findings, status.finishedAt) = (0, .epoch)
        #expect(status.verdict == .explained)
        status.findings = 1
        #expect(status.verdict == .unexplained, "in a later pass")
        (status.findings, status.lastPassFindings) = (0, 1)
        #expect(status.verdict == .unexplained, "the next pass has come to nothing yet")
        (status.lastPassFindings, status.lastPassIncompleteReason) = (0, "something")
        #expect(status.verdict == .incomplete)
    }

    @Test(
        "a pass of the background check covers families, accounts, the schema and the tree, and logs its findings",
        arguments: [
            ("membership", ["UPDATE memberships SET role = 'guardian' WHERE role = 'participant'"]),
            (
                "account",
                [
                    """
                    INSERT INTO users (id, status, pseudonym, created_at)
                    VALUES (gen_random_uuid(), 'active', gen_random_uuid(), now())
                    """
                ]
            ),
            ("schema", ["DROP TRIGGER only_pruned ON audit_entry"]),
            (
                "log",
                [
                    "ALTER TABLE audit_checkpoint DISABLE TRIGGER append_only",
                    "UPDATE audit_checkpoint SET note = replace(note, 'nagz.test/log', 'other/log')",
                    "ALTER TABLE audit_checkpoint ENABLE ALWAYS TRIGGER append_only",
                ]
            ),
        ])
    func wholePass(subject: String, statements: [String]) async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            try await family.liveWithNags()
            try await server.runRound()
            let (clock, random, keys) = (server.clock, server.random, try #require(TestServer.auditKeyring))
            let lines = LogRecorder()
            let (log, status) = (Log(.info, descriptor: lines.descriptor), PassStatus())
            func pass() async throws {
                try await server.checking { database in
                    try await BackgroundCheck(
                        database: database, keys: keys, clock: clock, random: random, status: status, log: log,
                        pace: Self.pace
                    ).runTurn()
                    _ = try await database.query("UPDATE audit_pass SET held_until = 'epoch'")
                }
            }
            try await pass()
            #expect(status.verdict == .explained)
            for statement in statements { try await server.sql(SQL(unsafeSQL: statement)) }
            try await pass()
            #expect(status.current?.lastPassFindings == 1 && status.verdict == .unexplained)
            let found = status.current?.lastPassFirstFinding ?? ""
            #expect(found.contains("\(subject) "), "\(found)")
            log.stop()
            let told = lines.close().filter { $0.contains("audit_state_unexplained") }
            #expect(told.count == 1 && told.allSatisfy { $0.contains(#""level":"error""#) })
        }
    }

    @Test("a tree that does not fit its leaves or its checkpoint is found by the background check")
    func tree() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            try await family.liveWithNags()
            try await server.runRound()
            let keys = try #require(TestServer.auditKeyring)
            func findings() async throws -> [String?] {
                try await server.database.run {
                    try await TreeCheck(database: $0, keys: keys).run().findings.map(\.found)
                }
            }
            #expect(try await findings() == [])
            try await Forger(server: server).disableTriggers()
            try await server.sql("UPDATE audit_leaf SET hash = sha256('x') WHERE position = 2")
            #expect(try await findings() == ["root_differs"])
            try await server.sql("DELETE FROM audit_leaf WHERE position = 2")
            #expect(try await findings() == ["missing_entry"])
            try await server.sql("UPDATE audit_checkpoint SET note = replace(note, 'nagz.test/log', 'other/log')")
            #expect(try await findings() == ["untrusted_checkpoint"])
        }
    }
}

extension TestServer {
    /// Runs `body` with sessions as the background check has them.
    fileprivate func checking<Value: Sendable>(
        _ body: @Sendable @escaping (Database) async throws -> Value
    ) async throws -> Value {
        let sessions = try await TestDatabase(url: database.url, sessions: 2)
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await sessions.run(body)) } catch { outcome = .failure(error) }
        await sessions.close()
        return try outcome.get()
    }

    /// Waits until health tells that state of the background check.
    fileprivate func wait(for state: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        var last = ""
        while ContinuousClock.now < deadline {
            last = try await call(API.checkReadiness).auditState
            if last == state { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("health tells “\(last)”, not “\(state)”", sourceLocation: sourceLocation)
    }

    fileprivate func passes() async throws -> Int {
        try await rows("SELECT 1 AS one FROM audit_pass WHERE finished_at IS NOT NULL").count
    }
}
