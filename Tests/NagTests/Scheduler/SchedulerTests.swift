import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Synchronization
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The scheduler")
struct SchedulerTests {
    private static let phases = EscalationPhase.allCases.dropFirst().map(\.rawValue)

    @Test("after a stop all steps are taken in order of time, with at most one notification for a nag")
    func catchUp() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let first = try await server.nag(from: family.guardian, to: family.child)
            let second = try await server.nag(from: family.guardian, to: family.participant, due: .hours(20))
            let third = try await server.nag(from: family.guardian, to: family.secondGuardian, due: .hours(30))
            server.clock.advance(by: .hours(28))
            try await server.withScheduler { rounds in
                try await rounds.run()
                #expect(rounds.status.steps.value == 9 && rounds.status.failedAttempts.value == 0)
                #expect(
                    rounds.status.current == .init(isLeading: true, roundEndedAt: server.clock.now(), dueSince: nil))
                #expect(rounds.status.verdict(at: server.clock.now()) == .off, "it runs no rounds by itself")
            }
            let taken = try await server.steps()
            #expect(taken.filter { $0.nag == first.id }.map(\.name) == Self.phases + ["missed"])
            #expect(taken.filter { $0.nag == second.id }.map(\.name) == Self.phases)
            #expect(taken.filter { $0.nag == third.id }.isEmpty)
            #expect(taken.prefix(5).allSatisfy { $0.nag == first.id }, "who has waited longest is first")
            #expect(try await server.escalationDeliveries(of: first.id) == [])
            #expect(try await server.escalationDeliveries(of: second.id) == ["Pat 4 push pending"])
        }
    }

    @Test("several schedulers at once, with the lock and without it, take each step once")
    func together() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            var nags: [NagID] = []
            for number in 0..<12 {
                let recipient = [family.child, family.participant, family.secondGuardian][number % 3]
                let sender = [family.guardian, family.secondGuardian][number % 2]
                nags.append(try await server.nag(from: sender, to: recipient).id)
            }
            server.clock.advance(by: .hours(27))
            let (now, all) = (server.clock.now(), nags)
            try await server.withScheduler { one in
                try await server.withScheduler { other in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for rounds in [one, other] {
                            group.addTask { for _ in 0..<3 { try await rounds.run() } }
                            group.addTask {
                                for nag in all.reversed() {
                                    while case .stepped = try await rounds.escalate(nag, in: family.id, now) {}
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            }
            try await Self.expectEachOnce(nags, on: server)
        }
    }

    @Test("a scheduler that is killed at any point leaves whole steps, and another takes the rest once")
    func killed() async throws {
        struct Killed: Error {}
        try await TestServer.run { server in
            let family = try await server.family()
            var nags: [NagID] = []
            for _ in 0..<3 { nags.append(try await server.nag(from: family.guardian, to: family.child).id) }
            server.clock.advance(by: .hours(27))
            for last in 0..<12 {
                let count = Mutex(0)
                let isKilled = try await server.withScheduler(reach: { _ in
                    let reached = count.withLock { count in
                        defer { count += 1 }
                        return count
                    }
                    if reached >= last { throw Killed() }
                }) { rounds in
                    do { try await rounds.run() } catch is Killed { return true }
                    return false
                }
                let taken = try await server.steps().count
                #expect(isKilled || taken == 15)
            }
            try await server.withScheduler { try await $0.run() }
            try await Self.expectEachOnce(nags, on: server)
        }
    }

    @Test("database sessions that end in the middle of a round lose no step")
    func lostSessions() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            var nags: [NagID] = []
            for _ in 0..<6 { nags.append(try await server.nag(from: family.guardian, to: family.child).id) }
            server.clock.advance(by: .hours(27))
            let database = server.database
            try await server.withScheduler { rounds in
                async let killing: Void = {
                    for _ in 0..<8 {
                        try await database.run { database in
                            _ = try await database.query(
                                """
                                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                                WHERE datname = current_database() AND usename = 'nagz_test_server'
                                    AND query LIKE '%ledger_stamp%' LIMIT 1
                                """)
                        }
                    }
                }()
                for _ in 0..<40 {
                    do {
                        try await rounds.run()
                        if rounds.status.current.dueSince == nil { break }
                    } catch is PostgresError {}
                }
                _ = try? await killing
                while try await server.steps().count < 30 {
                    do { try await rounds.run() } catch is PostgresError {}
                }
            }
            try await Self.expectEachOnce(nags, on: server)
        }
    }

    @Test("while one scheduler has the lock another takes no step, and takes over when its session is gone")
    func lock() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            server.clock.set(to: nag.dueAt)
            let holder = try await TestDatabase(url: server.database.url)
            try await holder.run { _ = try await $0.query("SELECT pg_advisory_lock(7239410025)") }
            try await server.withScheduler { rounds in
                try await rounds.run()
                #expect(try await server.steps() == [])
                #expect(!rounds.status.current.isLeading)
                #expect(rounds.status.lag(at: server.clock.now()) == .hours(1))
                await holder.close()
                while try await server.steps().count < 2 { try await rounds.run() }
                #expect(rounds.status.current.isLeading)
                #expect(rounds.status.lag(at: server.clock.now()) == .seconds(0))
            }
        }
    }

    @Test(
        "nags that no round has read since the upgrade hide no lag of others, and count as due from now on themselves")
    func unread() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let unread = try await server.nag(from: family.guardian, to: family.participant)
            try await server.sql("UPDATE nags SET next_step_at = 'epoch' WHERE id = \(unread.id)")
            let since = try await server.nextStepAt(at: nag.id)
            server.clock.set(to: since + .minutes(5))
            let holder = try await TestDatabase(url: server.database.url)
            try await holder.run { _ = try await $0.query("SELECT pg_advisory_lock(7239410025)") }
            try await server.withScheduler { rounds in
                try await rounds.runRound()
                #expect(rounds.status.current.dueSince == since)
                try await server.sql("UPDATE nags SET next_step_at = 'infinity' WHERE id = \(nag.id)")
                try await rounds.runRound()
                #expect(rounds.status.current.dueSince == server.clock.now())
            }
            await holder.close()
        }
    }

    @Test("a nag that fails in each round is logged once, and again after a round without failures")
    func failing() async throws {
        let recorder = LogRecorder()
        try await TestServer.run { server in
            let family = try await server.family()
            _ = try await server.nag(from: family.guardian, to: family.child)
            server.clock.advance(by: .hours(3))
            let breakage: SQL = """
                ALTER TABLE nag_events ADD CONSTRAINT broken CHECK (event_type <> 'nag_escalated') NOT VALID
                """
            try await server.withScheduler(log: Log(.warning, descriptor: recorder.descriptor)) { rounds in
                for hours in 1...2 {
                    try await server.sql(breakage)
                    for _ in 0..<3 { #expect(try await !rounds.runRound()) }
                    #expect(rounds.status.failedAttempts.value == hours * 3)
                    try await server.sql("ALTER TABLE nag_events DROP CONSTRAINT broken")
                    try await rounds.run()
                    server.clock.advance(by: .hours(6))
                }
            }
        }
        #expect(recorder.close().count { $0.contains("scheduler_delayed") } == 2)
    }

    @Test("a family with many due steps does not keep others from theirs")
    func fairness() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.sql(
                """
                INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, status,
                                  created_at, cycle_started_at, next_step_at, sync_seq, sync_ts)
                SELECT family_id, gen_random_uuid(), creator_id, recipient_id, due_at - interval '1 hour', category,
                       done_definition, 'open', created_at, cycle_started_at, next_step_at - interval '1 hour', sync_seq, sync_ts
                FROM nags, generate_series(1, 1200)
                """)
            let other = try await server.nag(from: family.stranger, to: family.stranger)
            server.clock.set(to: nag.dueAt)
            let attempts = try await server.withScheduler { rounds in
                try await rounds.runRound()
                try await rounds.runRound()
                return rounds.status.completedAttempts.value
            }
            #expect(try await server.steps(of: other.id) == ["1", "2"], "the second round is for those behind")
            #expect(attempts <= 2 * 3 * NagStatements.dueLimitPerFamily)
        }
    }

    @Test("finding due steps uses the index, however many nags are open")
    func idle() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            func pages() async throws -> [Int] {
                let now = server.clock.now()
                let plans = try await server.database.run { database in
                    try await database.transaction { transaction in
                        let planned = PlannedQueries(transaction)
                        _ = try await planned.query(NagStatements.dueNags(at: now, besides: []))
                        _ = try await planned.query(NagStatements.dueSince(at: now))
                        return planned.plans.map { ($0.text, $0.pages) }
                    }
                }
                for (text, _) in plans {
                    #expect(text.contains("nags_due_step") && !text.contains("Seq Scan"), "\(text)")
                }
                return plans.map(\.1)
            }
            let few = try await pages()
            try await server.sql(
                """
                INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, status,
                                  created_at, cycle_started_at, next_step_at, sync_seq, sync_ts)
                SELECT family_id, gen_random_uuid(), creator_id, recipient_id, due_at, category, done_definition,
                       'open', created_at, cycle_started_at, due_at + i * interval '1 second', sync_seq, sync_ts
                FROM nags, generate_series(1, 20000) i WHERE id = \(nag.id)
                """)
            try await server.sql("VACUUM ANALYZE nags")
            let many = try await pages()
            // An index of that many rows is two levels high instead of one.
            for (one, other) in zip(few, many) { #expect(other <= one + 4, "\(one) pages, then \(other)") }
        }
    }

    @Test("with another plan all open nags are scheduled again, once")
    func plan() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.withScheduler { rounds in
                server.clock.advance(by: .minutes(1))
                try await rounds.run()
                #expect(try await server.nextStepAt(at: nag.id) == nag.dueAt - .hours(1))
            }
            let early = try EscalationPlan(text: "phase_1=-119m")
            try await server.withScheduler(plan: early) { try await $0.run() }
            #expect(try await server.steps(of: nag.id) == ["1"])
            try await server.withScheduler(plan: early) { rounds in
                try await rounds.run()
                #expect(rounds.status.completedAttempts.value == 0)
            }
        }
    }

    @Test("a nag's next step is moved only if nothing in the family has changed since")
    func reschedule() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let later = nag.dueAt + .days(1)
            func putOff(after change: () async throws -> Void) async throws -> Timestamp {
                let record = try await server.database.rows(NagStatements.nag(nag.id, in: family.id)) { row in
                    try NagRecord(row)
                }
                try await change()
                try await server.sql(NagStatements.reschedule(try #require(record.first ?? nil), to: later))
                return try await server.nextStepAt(at: nag.id)
            }
            let stale = try await putOff {
                try await server.setQuietHours(of: family.child, "22:00", "07:00", as: family.guardian)
            }
            #expect(stale != later)
            #expect(try await putOff {} == later)
        }
    }

    @Test("a server takes steps by itself, and reports the scheduler's status in health and metrics")
    func running() async throws {
        try await TestServer.run(configure: { $0.runsScheduler = true }) { server in
            // Health compares this clock with the database's.
            server.clock.set(to: SystemClock().now())
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child, due: .minutes(30))
            let deadline = ContinuousClock.now + .seconds(300)
            var isCurrent = false
            while !isCurrent, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(20))
                guard try await server.steps(of: nag.id) == ["1"] else { continue }
                // The rounds before went by the clock's time of before.
                isCurrent = try await server.call(API.checkReadiness).scheduler == "current"
            }
            #expect(try await server.steps(of: nag.id) == ["1"])
            #expect(try await server.escalationDeliveries(of: nag.id) == ["Cleo 1 push pending"])
            #expect(try await server.call(API.checkReadiness).scheduler == "current")
            let metrics = try await server.metrics().text
            #expect(metrics.contains("nagz_scheduler_late 0\n") && metrics.contains("nagz_scheduler_lag_seconds 0.0\n"))
            #expect(metrics.contains("nagz_scheduler_failures_total 0\n"))
        }
    }

    @Test("a scheduler that ends no round, or leaves a step due for a minute, is late")
    func verdicts() {
        let (status, now) = (SchedulerStatus(), ManualClock.start)
        #expect(status.verdict(at: now) == .off)
        status.begin(at: now)
        #expect(status.verdict(at: now + .seconds(60)) == .current)
        #expect(status.verdict(at: now + .seconds(61)) == .late)
        status.update(.init(isLeading: true, roundEndedAt: now + .seconds(61), dueSince: now + .seconds(1)))
        #expect(status.verdict(at: now + .seconds(61)) == .current)
        #expect(status.verdict(at: now + .seconds(62)) == .late)
    }

    @Test("after thirty hours of scheduler rounds the audit log explains every row")
    func explained() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            _ = try await family.nag(to: family.child)
            _ = try await family.nag(to: family.participant, every: .daily)
            let moved = try await family.nag(to: family.participant)
            let begunAnew = try await family.nag(to: family.participant)
            try await server.withScheduler { rounds in
                for hour in 1...30 {
                    server.clock.advance(by: .hours(1))
                    try await rounds.run()
                    if hour == 4 {
                        for (nag, hours) in [(moved, Int64(3)), (begunAnew, 48)] {
                            try await server.call(
                                API.updateNag, NagPath(nagID: nag),
                                NagUpdate(dueAt: server.clock.now() + .hours(hours)), as: family.guardian)
                        }
                    }
                }
            }
            #expect(try await server.phase(of: begunAnew, as: family.participant) == 0)
            #expect(try await server.steps().count > 12)
            let report = try await server.reconcile()
            #expect(report.findings.map(\.description) == [] && report.verdict == "explained")
            try await server.sql("UPDATE nags SET phase = 1 WHERE id = \(moved)")
            #expect(try await server.reconcile().findings.map(\.field) == ["phase"])
        }
    }

    private static func expectEachOnce(_ nags: [NagID], on server: TestServer) async throws {
        let taken = try await server.steps()
        for nag in nags {
            #expect(taken.filter { $0.nag == nag }.map(\.name) == phases + ["missed"])
        }
        let entries = try await server.database.rows(
            """
            SELECT count(*) FILTER (WHERE kind = 'nag.escalated') AS steps, count(*) FILTER (WHERE kind = 'nag.missed') AS misses
            FROM audit_entry
            """
        ) { (try $0["steps"] as Int, try $0["misses"] as Int) }
        #expect(entries.map(\.0) == [4 * nags.count] && entries.map(\.1) == [nags.count])
        let deliveries = try await server.rows("SELECT 1 AS one FROM deliveries")
        #expect(deliveries.isEmpty, "all was due at once, and the miss tells nobody")
    }
}
