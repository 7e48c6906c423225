import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL
import Synchronization
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Limiters by family and person")
struct KeyedLimiterTests {
    /// What tasks of one loop have come to.
    private final class Progress {
        var running = 0
        var most = 0
        var isOpen = false

        func hold() async {
            running += 1
            most = max(most, running)
            while !isOpen { await Task.yield() }
            running -= 1
        }
    }

    /// What tasks of several loops have come to, by key.
    private final class SharedProgress: Sendable {
        struct State {
            var running = [0, 0]
            var most = [0, 0]
            var mostInAll = 0
            var isOpen = false
            var done = 0
        }

        let state = Mutex(State())

        func hold(_ key: Int) async {
            state.withLock { state in
                state.running[key] += 1
                state.most[key] = max(state.most[key], state.running[key])
                state.mostInAll = max(state.mostInAll, state.running.reduce(0, +))
            }
            while !state.withLock(\.isOpen) { await Task.yield() }
            state.withLock { state in
                state.running[key] -= 1
                state.done += 1
            }
        }
    }

    @Test("eight writes of a family are decided at a time; others of it wait, and another family's do not")
    func writers() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (now, random) = (server.clock.now(), server.random)
            let sessions = try await TestDatabase(url: server.database.url, sessions: 2)
            let most = try await sessions.run { database in
                let ledger = Ledger(database: database, random: random)
                let progress = Progress()
                func write(_ family: FamilyID, _ wait: () async -> Void) async throws {
                    let _: NoAnswer = try await ledger.write(.ofTest(at: now, random), in: family) { _ in
                        await wait()
                        return .answer(NoAnswer())
                    }
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    let bound = LoopBound(value: (write, progress))
                    for _ in 0..<20 {
                        group.addTask { try await bound.value.0(family.id) { await bound.value.1.hold() } }
                    }
                    while progress.running < 8 { await Task.yield() }
                    for _ in 0..<1_000 { await Task.yield() }
                    try await write(family.otherFamilyID) {}
                    progress.isOpen = true
                    try await group.waitForAll()
                }
                return progress.most
            }
            await sessions.close()
            #expect(most == 8)
        }
    }

    @Test("loops with a shared counter count together: two of a key and three in all, in turns")
    func acrossLoops() async throws {
        let turns = SharedTurnQueue<Int>(limit: 3, limitPerKey: 2, queueLimit: 64)
        let progress = SharedProgress()
        let loops = try (0..<2).map { try EventLoop(name: "limiter-\($0)") }
        for loop in loops { try loop.start() }
        defer { for loop in loops { loop.stop() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                let (loop, key) = (loops[number % 2], number / 2 % 2)
                group.addTask {
                    try await loop.runTask { poller in
                        let limiter = KeyedLimiter(poller, sharing: turns, timeout: .seconds(600))
                        try await limiter.run(key) { await progress.hold(key) }
                    }
                }
            }
            while progress.state.withLock({ $0.running.reduce(0, +) }) < 3 { await Task.yield() }
            for _ in 0..<1_000 { await Task.yield() }
            progress.state.withLock { $0.isOpen = true }
            try await group.waitForAll()
        }
        progress.state.withLock { state in
            #expect(state.most.allSatisfy { $0 <= 2 } && state.mostInAll == 3 && state.done == 24)
        }
    }

    @Test("a call that waits for a turn is refused at its deadline")
    func deadline() async throws {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        try await loop.runTask { poller in
            let limiter = KeyedLimiter<Int>(poller, limitPerKey: 1, timeout: .seconds(600))
            try await limiter.enter(1)
            await #expect { try await limiter.enter(1, until: poller.now + .milliseconds(1)) } throws: { error in
                let refusal = error as? APIError
                return refusal?.status == 503 && refusal?.retryAfter == 1
            }
            limiter.leave(1)
            try await limiter.enter(1, until: poller.now)
        }
    }

    @Test("of several first refusals in one batch one is recorded, and the others are counted")
    func firstRefusal() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (now, random) = (server.clock.now(), server.random)
            let sessions = try await TestDatabase(url: server.database.url, sessions: 1)
            try await sessions.run { database in
                let ledger = Ledger(database: database, random: random)
                let progress = Progress()
                let bound = LoopBound(value: (ledger, progress))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<5 {
                        group.addTask {
                            let (ledger, progress) = bound.value
                            try await expectRefusal(403) {
                                let _: NoAnswer = try await ledger.write(.ofTest(at: now, random), in: family.id) { _ in
                                    // All have decided before one of them writes.
                                    if !progress.isOpen {
                                        progress.running += 1
                                        while progress.running < 5 { await Task.yield() }
                                        progress.isOpen = true
                                    }
                                    let act = Act(
                                        kind: .reportReadDenied, basis: .rightsUnchanged(since: 0),
                                        actor: family.child.pseudonym, details: ["reason": "guardian_only"],
                                        stampedRows: 0)
                                    return .refuse(act, APIError(.authorizationDenied, .guardianOnly))
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            await sessions.close()
            #expect(try await server.audit(family.id).map(\.kind) == ["report.read.denied"])
            #expect(try await server.database.rows("SELECT count FROM refusal_counts") { try $0["count"] } == [5])
        }
    }

    @Test("costly reads run one at a time for a person, and two in all")
    func throttledQueries() async throws {
        try await TestServer.run { server in
            let sessions = try await TestDatabase(url: server.database.url, sessions: 8)
            let (locker, counter) = (try await TestDatabase(url: server.database.url), server.database)
            try await locker.run { _ = try await $0.query("SELECT pg_advisory_lock(711)") }
            let most = try await sessions.run { database in
                let limiter = KeyedLimiter<UserID>(
                    database.poller, limit: 2, limitPerKey: 1, queueLimit: 256, timeout: .seconds(600))
                let bound = LoopBound(value: (database, limiter))
                return try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<9 {
                        group.addTask {
                            let person = UserID(high: 1, low: UInt64(number / 3))
                            let (database, limiter) = bound.value
                            let reads = ThrottledQueries(database: database, limiter: limiter, person: person)
                            _ = try await reads.query(
                                "SELECT pg_advisory_lock_shared(711), pg_advisory_unlock_shared(711)")
                        }
                    }
                    func waiting() async throws -> Int {
                        try await counter.rows(
                            """
                            SELECT count(*) AS n FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                            WHERE NOT l.granted AND l.locktype = 'advisory' AND d.datname = current_database()
                            """
                        ) { try $0["n"] }[0]
                    }
                    var most = 0
                    for _ in 0..<2_000 where most < 2 { most = try await waiting() }
                    for _ in 0..<50 { most = max(most, try await waiting()) }
                    try await locker.run { _ = try await $0.query("SELECT pg_advisory_unlock(711)") }
                    try await group.waitForAll()
                    return most
                }
            }
            for database in [sessions, locker] { await database.close() }
            #expect(most == 2)
        }
    }
}
