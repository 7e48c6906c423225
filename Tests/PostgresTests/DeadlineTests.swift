import Reactor
import SQL
import Testing

@testable import Postgres

@Suite("The deadline of a request in the database") struct DeadlineTests {
    private static let lockTimeout: SQL = "SELECT current_setting('lock_timeout') AS timeout"
    private static let key = GroupCommit.Key(high: 0, low: 1)

    @Test("the remaining time of a request limits its wait for locks, in its own transaction alone")
    func lockLimit() async throws {
        try await withDatabase(settings: [("lock_timeout", "7s")]) { database in
            _ = try await database.query("SELECT 1")
            func timeout(after left: Duration, leaving rest: Duration = .zero) async throws -> String {
                let rows = try await database.pipeline(
                    [Self.lockTimeout], use: .write, until: database.poller.now + left, reserving: rest)
                #expect(rows.count == 1)
                return try rows[0].onlyRow()["timeout"]
            }
            // With time enough the session's own setting holds.
            #expect(try await timeout(after: .milliseconds(1_100)) == "7s")
            #expect(try await timeout(after: .milliseconds(1_099)) == "1099ms")
            #expect(try await timeout(after: .milliseconds(1_100), leaving: .milliseconds(400)) == "700ms")
            #expect(try await timeout(after: .zero) == "50ms", "zero would be no limit")
            #expect(try await database.query(Self.lockTimeout).onlyRow()["timeout"] == "7s")
        }
    }

    @Test("a transaction's statements wait for locks until the deadline, and without one as the setting says")
    func transactions() async throws {
        try await withDatabase(settings: [("lock_timeout", "7s")]) { database in
            _ = try await database.query("SELECT 1")
            func timeout(until deadline: MonotonicTime?) async throws -> [String] {
                try await database.transaction(until: deadline) { transaction in
                    let first: String = try await transaction.query(Self.lockTimeout).onlyRow()["timeout"]
                    // PostgreSQL rounds to milliseconds: at least one has to pass.
                    let later = database.poller.now + .milliseconds(1)
                    while database.poller.now < later { _ = try await transaction.query("SELECT 1") }
                    return [first, try await transaction.query(Self.lockTimeout).onlyRow()["timeout"]]
                }
            }
            #expect(try await timeout(until: nil) == ["7s", "7s"])
            #expect(try await timeout(until: database.poller.now + .seconds(600)) == ["7s", "7s"])
            let limited = try await timeout(until: database.poller.now + .milliseconds(500))
            #expect(limited[0] == "500ms" && limited[1].hasSuffix("ms") && limited[1] != "500ms")
        }
    }

    @Test("a batch waits for locks as the setting says, or less when its deadline is near")
    func groupCommit() async throws {
        try await withDatabase(settings: [("lock_timeout", "7s")]) { database in
            _ = try await database.query("SELECT 1")
            let commits = GroupCommit(database, lockTimeout: .milliseconds(300))
            func timeout(_ left: Duration) async throws -> String {
                let deadline = database.poller.now + left
                return try await commits.run(Self.lockTimeout, key: Self.key, until: deadline).onlyRow()["timeout"]
            }
            #expect(try await timeout(.seconds(600)) == "7s")
            let limited = try await timeout(.milliseconds(1_300))
            #expect(limited.hasSuffix("ms") && limited.dropLast(2).count <= 3, "\(limited) is a second or more")
        }
    }

    @Test("a write whose lock is held is refused at its deadline, however often it was tried")
    func heldLock() async throws {
        var limits = Database.Limits.patient
        limits.connections = 4
        // Ten times as long as the test takes with a deadline.
        try await withDatabase(limits, settings: [("lock_timeout", "20s")]) { database in
            _ = try await database.query("CREATE TABLE clock (id bigint PRIMARY KEY, seq bigint NOT NULL DEFAULT 0)")
            _ = try await database.query("INSERT INTO clock (id) VALUES (1)")
            let commits = GroupCommit(database)
            try await database.transaction { holder in
                _ = try await holder.query("SELECT 1 FROM clock WHERE id = 1 FOR UPDATE")
                for _ in 1...2 {
                    let began = MonotonicTime.now()
                    let ended = await together(8, on: database) { _ in
                        let deadline = database.poller.now + .milliseconds(500)
                        _ = try await commits.run(
                            "UPDATE clock SET seq = seq + 1 WHERE id = 1", key: Self.key, until: deadline)
                        return "written"
                    }
                    #expect(!ended.contains { $0.outcome == "written" })
                    #expect(MonotonicTime.now().elapsed(since: began) < .seconds(10))
                }
            }
        }
    }

    @Test("of writes that wait for a session the one with the earliest deadline is refused first, and alone")
    func session() async throws {
        var limits = Database.Limits.patient
        limits.connections = 1
        try await withDatabase(limits) { database in
            let commits = GroupCommit(database, concurrency: 1)
            let (ended, end) = AsyncStream.makeStream(of: Void.self)
            let outcomes = await together(4, on: database) { number in
                if number == 1 {
                    return try await database.transaction { holder in
                        _ = try await holder.query("SELECT 1")
                        for await _ in ended {}
                        return "held"
                    }
                }
                defer { if number == 4 { end.finish() } }
                let left: Duration = number == 4 ? .milliseconds(50) : .seconds(600)
                let rows = try await commits.run(
                    "SELECT \(number) AS n", key: GroupCommit.Key(high: 0, low: UInt64(number)),
                    until: database.poller.now + left)
                return "\(try rows.onlyRow()["n"] as Int)"
            }
            #expect(outcomes.first?.number == 4)
            #expect(
                outcomes.inOrder == ["held", "2", "3", "database unavailable: no session became free in time"])
        }
    }
}
