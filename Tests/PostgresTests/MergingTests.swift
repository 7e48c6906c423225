import Domain
import DomainSQL
import Postgres
import Reactor
import SQL
import Testing

@Suite("Merged statements") struct MergingTests {
    @Test("merged reads return values of every type and nulls to their callers")
    func everyType() async throws {
        try await withDatabase { database in
            let id = NagID(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)
            let moment = Timestamp(microseconds: 1_795_241_779_123_456)
            let outcomes = await together(7, on: database) { number in
                let isOdd = number % 2 == 1
                let row = try await database.read(
                    """
                    SELECT \(isOdd) AS odd, \(Int64(number) - 4) AS n, \(Double(number) / 2) AS half,
                           \("zoë \u{1F600} '\\{}\",NULL\(number)") AS text, \([UInt8](repeating: 255, count: number)) AS bytes,
                           \(isOdd ? id : nil) AS id, \(moment) AS moment, \(SQLJSON(#"{"a": \#(number)}"#)) AS json
                    """
                ).onlyRow()
                #expect(try row["odd"] == isOdd)
                #expect(try row["n"] == number - 4)
                #expect(try row["half"] == Double(number) / 2)
                #expect(try row["text"] == "zoë \u{1F600} '\\{}\",NULL\(number)")
                #expect(try row["bytes"] == [UInt8](repeating: 255, count: number))
                #expect(try (row["id"] as NagID?) == (isOdd ? id : nil))
                #expect(try row["moment"] == moment)
                #expect(try row["json"] == #"{"a": \#(number)}"#)
                return "\(try row["n"] as Int)"
            }.inOrder
            #expect(outcomes == (1...7).map { "\($0 - 4)" })
        }
    }

    @Test("reads that wait together share a statement, and each gets its own rows, none, one or many")
    func reads() async throws {
        try await withDatabase { database in
            let outcomes = await together(100, on: database) { number in
                let rows = try await database.read(
                    """
                    WITH counted AS MATERIALIZED (SELECT i FROM generate_series(1, \(number % 5)) i)
                    SELECT i AS n, \(number) AS of, statement_timestamp() AS at FROM counted ORDER BY i DESC
                    """)
                for index in 0..<rows.count {
                    #expect(try rows[index]["n"] == rows.count - index)
                    #expect(try rows[index]["of"] == number)
                }
                return "\(rows.count) \(try rows.first?["at"] as Timestamp?)"
            }.inOrder
            #expect(outcomes.map { $0.prefix(1) } == (1...100).map { "\($0 % 5)" })
            // A hundred reads, sixteen a statement at most: those with rows saw few moments.
            let moments = Set(outcomes.filter { !$0.hasPrefix("0") }.map { $0.dropFirst(2) })
            #expect((7...25).contains(moments.count))
        }
    }

    @Test("a refused read does not affect the others, and reads of other shapes wait for their turn")
    func refusals() async throws {
        try await withDatabase { database in
            let outcomes = await together(60, on: database) { number in
                switch number % 3 {
                case 0: "\(try await database.read("SELECT 1000 / \(number % 4) AS n").onlyRow()["n"] as Int)"
                case 1: "\(try await database.read("SELECT \(number) AS m").onlyRow()["m"] as Int)"
                default: "\(try await database.read("SELECT 7::bigint AS constant").onlyRow()["constant"] as Int)"
                }
            }.inOrder
            #expect(
                outcomes
                    == (1...60).map { number in
                        switch number % 3 {
                        case 0: number % 4 == 0 ? "22012" : "\(1000 / (number % 4))"
                        case 1: "\(number)"
                        default: "7"
                        }
                    })
        }
    }

    /// A write as the ledger's are: it takes a row, and applies only where that goes.
    private static func write(_ number: Int, of row: Int) -> SQL {
        """
        WITH \(SQL.requestTable)ledger_stamp AS (
            UPDATE clock c SET seq = c.seq + 1 \(merged: "FROM request ")WHERE c.id = \(row) AND c.id <> 5
            RETURNING c.id, c.seq\(merged: ", request.*")
        ), kept AS (INSERT INTO thing (id, clock, note) SELECT \(number), id, \(number == 9 ? nil : "n\(number)") FROM ledger_stamp)
        SELECT \(merged: "ordinal, ")seq FROM ledger_stamp
        """
    }

    @Test("writes of one shape with different keys are one statement, and those that fail do so alone")
    func writes() async throws {
        try await withDatabase { database in
            _ = try await database.query("CREATE TABLE clock (id bigint PRIMARY KEY, seq bigint NOT NULL DEFAULT 0)")
            _ = try await database.query("INSERT INTO clock (id) SELECT generate_series(0, 9)")
            _ = try await database.query(
                """
                CREATE TABLE thing (id bigint PRIMARY KEY CHECK (id <> 33), clock bigint NOT NULL, note text,
                                    tx bigint DEFAULT txid_current(), at timestamptz DEFAULT statement_timestamp())
                """)
            let commits = GroupCommit(database, batchLimit: 8, concurrency: 2)
            let outcomes = await together(60, on: database) { number in
                let rows = try await commits.run(
                    Self.write(number, of: number % 10), key: Self.key(number % 10), canMerge: true)
                return rows.isEmpty ? "-" : "\(try rows.onlyRow()["seq"] as Int)"
            }.inOrder
            // Nobody is told a number twice; five never applies, thirty-three is refused.
            for row in 0..<10 {
                let told = (1...60).filter { $0 % 10 == row }.map { outcomes[$0 - 1] }
                let refused = told.count { $0 == "23514" }
                #expect(refused == (row == 3 ? 1 : 0))
                let numbers = told.filter { $0 != "23514" }
                #expect(numbers.sorted() == (row == 5 ? numbers.map { _ in "-" } : (1...numbers.count).map { "\($0)" }))
            }
            let row = try await database.query(
                """
                SELECT count(*) AS n, count(DISTINCT tx) AS txs, count(note) AS notes,
                       count(DISTINCT (tx, at)) AS statements, (SELECT sum(seq) FROM clock) = count(*) AS adds_up FROM thing
                """
            ).onlyRow()
            #expect(try row["n"] == 53 && row["notes"] == 52 && row["adds_up"] == true)
            let transactions: Int = try row["txs"]
            #expect(transactions < 30)
            // Two sessions may start a statement in the same microsecond.
            #expect(try row["statements"] == transactions)
        }
    }

    @Test("two batching loops that write the same keys apply every write once")
    func contention() async throws {
        try await withDatabase { database in
            _ = try await database.query("CREATE TABLE clock (id bigint PRIMARY KEY, seq bigint NOT NULL DEFAULT 0)")
            _ = try await database.query("INSERT INTO clock (id) SELECT generate_series(0, 9)")
            _ = try await database.query("CREATE TABLE thing (id bigint PRIMARY KEY, clock bigint, note text)")
            let loops = (0..<2).map { _ in GroupCommit(database, batchLimit: 8, concurrency: 2) }
            let outcomes = await together(200, on: database) { number in
                let rows = try await loops[number % 2].run(
                    Self.write(number, of: number / 2 % 5), key: Self.key(number / 2 % 5), canMerge: true)
                return "\(number / 2 % 5) \(try rows.onlyRow()["seq"] as Int)"
            }.inOrder
            #expect(Set(outcomes).count == 200)
            #expect(try await database.query("SELECT sum(seq)::bigint AS n FROM clock").onlyRow()["n"] == 200)
        }
    }

    @Test("locks that are held for long delay no other key's writes, once that is known")
    func lockedKeys() async throws {
        try await withDatabase(settings: [("lock_timeout", "3000")]) { database in
            _ = try await database.query("CREATE TABLE clock (id bigint PRIMARY KEY, seq bigint NOT NULL DEFAULT 0)")
            _ = try await database.query("INSERT INTO clock (id) SELECT generate_series(0, 9)")
            _ = try await database.query("CREATE TABLE thing (id bigint PRIMARY KEY, clock bigint NOT NULL, note text)")
            let commits = GroupCommit(database, batchLimit: 8, concurrency: 2, lockTimeout: .seconds(2))
            func write(_ round: Int) async -> [(number: Int, outcome: String)] {
                await together(16, on: database) { number in
                    let rows = try await commits.run(
                        Self.write(round * 16 + number, of: number % 4), key: Self.key(number % 4), canMerge: true)
                    return try rows.onlyRow()["seq"] as Int > 0 ? "written" : "not"
                }
            }
            try await database.transaction { transaction in
                _ = try await transaction.query("SELECT 1 FROM clock WHERE id IN (0, 1) FOR UPDATE")
                for round in 1...4 {
                    let ended = await write(round)
                    #expect(ended.inOrder == (1...16).map { $0 % 4 < 2 ? "55P03" : "written" })
                    // In the first round nobody knows yet.
                    guard round > 1 else { continue }
                    #expect(ended.prefix(8).allSatisfy { $0.outcome == "written" }, "they do not wait for the others")
                }
            }
            // Each key comes back with its first write that gets its lock.
            #expect(await write(5).inOrder == [String](repeating: "written", count: 16))
            let before = commits.sharedBatchCount
            #expect(await write(6).inOrder == [String](repeating: "written", count: 16))
            #expect(commits.sharedBatchCount > before)
            #expect(try await database.query("SELECT count(*) AS n FROM thing").onlyRow()["n"] == 4 * 8 + 32)
        }
    }

    private static func key(_ number: Int) -> GroupCommit.Key { GroupCommit.Key(high: 0, low: UInt64(number)) }

    @Test("a statement that waits for a lock does not delay others for long")
    func contended() async throws {
        var limits = Database.Limits()
        limits.batchesPerConnection = 1
        try await withDatabase(limits) { database in
            let (locked, lock) = AsyncStream.makeStream(of: Void.self)
            let ended = await together(2, on: database) { number in
                guard number == 1 else {
                    for await _ in locked {}
                    let rows = try await database.read("SELECT \(7) AS n FROM pg_advisory_xact_lock(7)")
                    return "\(try rows.onlyRow()["n"] as Int)"
                }
                return try await database.transaction { transaction in
                    _ = try await transaction.query("SELECT pg_advisory_xact_lock(7)")
                    lock.finish()
                    var waiting = 0
                    while waiting == 0 {
                        waiting = try await transaction.query(
                            """
                            SELECT count(*) AS n FROM pg_locks JOIN pg_database d ON d.oid = database
                            WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted
                            """
                        ).onlyRow()["n"]
                    }
                    return "\(try await database.read("SELECT \(1) AS n").onlyRow()["n"] as Int)"
                }
            }
            #expect(ended.map(\.number) == [1, 2] && ended.map(\.outcome) == ["1", "7"])
        }
    }

    @Test("whoever waits for a statement under way is refused if too many wait, or too long")
    func timeout() async throws {
        var limits = Database.Limits()
        limits.connections = 1
        limits.batchesPerConnection = 1
        limits.mergedStatementsInFlight = 1
        limits.waitingRequests = 3
        limits.requestTimeout = .seconds(1)
        try await withDatabase(limits) { database in
            // To open the session may take longer than a request waits for it.
            while database.openConnections == 0 { _ = try? await database.query("SELECT 1") }
            let commits = GroupCommit(database, concurrency: 1)
            try await database.transaction { transaction in
                _ = try await transaction.query("SELECT 1")
                for isWrite in [false, true] {
                    let refusals = await together(5, on: database) { number in
                        // The first is under way, waiting for the session; the next two are of other shapes.
                        let statement: SQL =
                            number == 1 ? "SELECT \(1)" : number == 2 ? "SELECT -\(2)" : "SELECT +\(3)"
                        _ =
                            try await isWrite
                            ? commits.run(statement, key: Self.key(0), canMerge: true) : database.read(statement)
                        return "answered"
                    }
                    // Nobody takes a turn of their own to find out that there is no session.
                    #expect(refusals.map(\.number) == [4, 5, 2, 3, 1])
                    #expect(
                        refusals.map(\.outcome)
                            == [String](repeating: "database unavailable: too many requests are waiting", count: 2)
                            + [String](repeating: "database unavailable: no session became free in time", count: 3))
                }
            }
            #expect(try await database.read("SELECT \(3) AS n").onlyRow()["n"] == 3)
        }
    }

    @Test("statements that cannot be told apart, or with text of the moment, are not merged")
    func unmerged() {
        #expect(SQL.merged(["SELECT 1", "SELECT 1"]) == nil)
        #expect(SQL.merged([SQL(unsafeSQL: "SELECT 1")]) == nil)
        #expect(SQL.merged(["SELECT \(SQLList(["a"]))"]) == nil)
        #expect(SQL.merged([]) == nil)
        #expect(
            SQL.merged(["SELECT \(1) + \(2.5)", "SELECT \(3) + \(4.5)"])?.text
                == "SELECT request.ordinal, answer.* FROM unnest($1) WITH ORDINALITY AS request (value_1, ordinal)"
                + " CROSS JOIN LATERAL (SELECT ($2)[ordinal::integer] AS value_2) others"
                + " CROSS JOIN LATERAL (SELECT value_1 + value_2) answer")
    }
}
