import Reactor
import SQL
import Synchronization
import Testing

@testable import Postgres

@Suite("Fairness between keys")
struct FairnessTests {
    private struct Write: Equatable {
        let key: String
        var kind = 0
    }

    private func take(
        _ selection: inout BatchSelection<String>, _ pending: inout [Write], limit: Int = 8
    ) -> [String] {
        selection.takeBatch(from: &pending, limit: limit, key: \.key, fits: { $0.kind == $1[0].kind }).map(\.key)
    }

    @Test("a key with many writes does not fill a batch: others' first writes come before its second")
    func shares() {
        var selection = BatchSelection<String>()
        var pending = (0..<64).map { _ in Write(key: "a") } + ["b", "c", "b"].map { Write(key: $0) }
        let batch = take(&selection, &pending)
        #expect(batch == ["a", "b", "c", "a", "a", "a", "a", "a"] && pending.count == 59)
    }

    @Test("no write of a key is taken while a batch with the key is under way")
    func underWay() {
        var selection = BatchSelection<String>()
        var pending = ["a", "a", "b"].map { Write(key: $0) }
        let batches = [
            take(&selection, &pending, limit: 1), take(&selection, &pending), take(&selection, &pending),
        ]
        #expect(batches == [["a"], ["b"], []] && pending == [Write(key: "a")])
        selection.endBatch(of: ["a"], hasPending: true)
        let last = take(&selection, &pending)
        #expect(last == ["a"])
    }

    @Test("keys take turns, and writes that do not fit wait for the next batch")
    func turns() {
        var selection = BatchSelection<String>()
        var pending = ["a", "a", "a", "b", "c", "b"].map { Write(key: $0) } + [Write(key: "d", kind: 1)]
        var served: [[String]] = []
        while !pending.isEmpty {
            let batch = take(&selection, &pending, limit: 1)
            served.append(batch)
            selection.endBatch(of: batch, hasPending: !pending.isEmpty)
        }
        #expect(served.flatMap(\.self) == ["a", "b", "c", "d", "a", "b", "a"])
    }

    private static func write(of row: Int) -> SQL {
        """
        WITH \(SQL.requestTable)ledger_stamp AS (
            UPDATE clock c SET seq = c.seq + 1 \(merged: "FROM request ")WHERE c.id = \(row)
            RETURNING c.id, c.seq\(merged: ", request.*")
        )
        SELECT \(merged: "ordinal, ")seq FROM ledger_stamp
        """
    }

    @Test("many writes of a key whose row is locked delay neither other keys' writes nor reads")
    func heldRow() async throws {
        var limits = Database.Limits()
        limits.connections = 4
        limits.batchTimeout = .seconds(60)
        // Who had to wait for the row would wait for the test's end.
        limits.requestTimeout = .seconds(60)
        try await withDatabase(limits, settings: [("lock_timeout", "60000")]) { database in
            _ = try await database.query("CREATE TABLE clock (id bigint PRIMARY KEY, seq bigint NOT NULL DEFAULT 0)")
            _ = try await database.query("INSERT INTO clock (id) SELECT generate_series(0, 9)")
            let commits = GroupCommit(database)
            func write(_ key: Int) async throws -> Bool {
                let key64 = GroupCommit.Key(high: 0, low: UInt64(key))
                return try await commits.run(Self.write(of: key), key: key64, canMerge: true).count == 1
            }
            let (locked, lock) = AsyncStream.makeStream(of: Void.self)
            let endedEarly = Mutex(0)
            let ended = await together(65, on: database) { number in
                guard number == 1 else {
                    for await _ in locked {}
                    defer { endedEarly.withLock { $0 += 1 } }
                    return "\(try await write(0))"
                }
                return try await database.transaction { holder in
                    _ = try await holder.query("SELECT 1 FROM clock WHERE id = 0 FOR UPDATE")
                    lock.finish()
                    var waiting = 0
                    while waiting == 0 {
                        waiting = try await holder.query(
                            "SELECT count(*) AS n FROM pg_locks l WHERE pg_backend_pid() = ANY (pg_blocking_pids(l.pid))"
                        ).onlyRow()["n"]
                    }
                    let others = await together(60, on: database) { number in
                        switch number % 3 {
                        case 0: "\(try await write(1 + number % 9))"
                        case 1: "\(try await database.read("SELECT \(number) AS n").onlyRow()["n"] == number)"
                        default: "\(try await database.query("SELECT \(number) AS n").onlyRow()["n"] == number)"
                        }
                    }
                    // Else the others may have waited for the end of these.
                    #expect(endedEarly.withLock { $0 } == 0)
                    return "\(others.count { $0.outcome == "true" }) of 60"
                }
            }
            #expect(ended.inOrder.first == "60 of 60")
        }
    }

    @Test("reads go on while transactions hold the sessions for writes and another waits for one")
    func reads() async throws {
        var limits = Database.Limits()
        limits.connections = 4
        limits.requestTimeout = .seconds(10)
        try await withDatabase(limits) { database in
            // The only session there is would be taken for writes as well.
            _ = await together(1, on: database) { _ in
                while database.openConnections < 4 { await Task.yield() }
                return "open"
            }
            let (held, release) = AsyncStream.makeStream(of: Void.self)
            let ended = await together(5, on: database) { number in
                guard number == 5 else {
                    return try await database.transaction { transaction in
                        _ = try await transaction.query("SELECT 1 AS n")
                        for await _ in held {}
                        return "written"
                    }
                }
                defer { release.finish() }
                while database.waitingRequests == 0 { await Task.yield() }
                return "\(try await database.query("SELECT 4 AS n").onlyRow()["n"] == 4)"
            }
            #expect(ended.inOrder == ["written", "written", "written", "written", "true"])
        }
    }
}
