import Domain
import DomainSQL
import Foundation
import Postgres
import Reactor
import SQL
import Testing

@Suite struct DatabaseTests {
    @Test func valuesOfEveryTypeComeBackAsTheyWent() async throws {
        try await withDatabase { database in
            let id = NagID(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)
            let moment = Timestamp(microseconds: 1_795_241_779_123_456)
            let row = try await database.query(
                """
                SELECT \(true) AS yes, \(Int64.min) AS least, \(-1.5) AS half, \("zoë \u{1F600} '\\") AS text,
                       \([UInt8]([0, 1, 255])) AS bytes, \(id) AS id, \(moment) AS moment, \(SQLJSON(#"{"a": 1}"#)) AS json,
                       \(String?.none) AS nothing, \(SQLList([id, id])) = ARRAY[\(id), \(id)] AS same,
                       \(SQLList(["a", ""])) = ARRAY['a', ''] AS texts
                """
            ).onlyRow()
            #expect(try row["yes"] == true)
            #expect(try row["least"] == Int64.min)
            #expect(try row["half"] == -1.5)
            #expect(try row["text"] == "zoë \u{1F600} '\\")
            #expect(try row["bytes"] == [UInt8]([0, 1, 255]))
            #expect(try row["id"] == id)
            #expect(try row["moment"] == moment)
            #expect(try row["json"] == #"{"a": 1}"#)
            #expect(try (row["nothing"] as String?) == nil)
            #expect(try row["same"] == true)
            #expect(try row["texts"] == true)
        }
    }

    @Test func arraysComeBackAsTheyWent() async throws {
        try await withDatabase { database in
            let ids = [NagID(high: 1, low: 2), NagID(high: 3, low: 4)]
            let row = try await database.query(
                """
                SELECT \(SQLList(ids)) AS ids, \(SQLList(["a", "", "zoë"])) AS texts, '{}'::uuid[] AS empty,
                       ARRAY['a', NULL] AS holes, NULL::uuid[] AS nothing, ARRAY[[1, 2], [3, 4]] AS square, 'x'::text AS text,
                       array_agg(m ORDER BY m) AS moments FROM (VALUES (timestamptz '1970-01-01 00:00:01Z')) v (m)
                """
            ).onlyRow()
            #expect(try row.list("ids") == ids)
            #expect(try row.list("texts") == ["a", "", "zoë"])
            #expect(try row.list("empty") == [NagID]())
            #expect(try row.list("holes") == ["a", String?.none])
            #expect(try (row.list("nothing") as [NagID]?) == nil)
            #expect(try row.list("moments") == [Timestamp(microseconds: 1_000_000)])
            for column: StaticString in ["square", "text", "holes", "ids"] {
                #expect(throws: PostgresError.self) { try row.list(column) as [Int]? }
            }
            #expect(throws: PostgresError.self) { try row.list("absent") as [Int]? }
        }
    }

    @Test func aWrongTypeOrNameIsAnErrorNotATrap() async throws {
        try await withDatabase { database in
            let row = try await database.query("SELECT 'x'::text AS x, NULL::text AS nothing").onlyRow()
            #expect(throws: PostgresError.self) { try row["x"] as Int }
            #expect(throws: PostgresError.self) { try row["nothing"] as String }
            #expect(throws: PostgresError.self) { try row["absent"] as String }
        }
    }

    @Test func statementsOfOneBatchCommitTogetherOrNotAtAll() async throws {
        try await withDatabase { database in
            _ = try await database.query("CREATE TABLE thing (id bigint PRIMARY KEY)")
            await #expect(throws: PostgresError.self) {
                _ = try await database.pipeline([
                    "INSERT INTO thing VALUES (1)", "INSERT INTO thing VALUES (1)", "INSERT INTO thing VALUES (2)",
                ])
            }
            #expect(try await database.query("SELECT count(*) AS n FROM thing").onlyRow()["n"] == 0)
            // A prepare skipped by the failure above must not be remembered as done.
            _ = try await database.pipeline(["INSERT INTO thing VALUES (2)"])
            #expect(try await database.query("SELECT count(*) AS n FROM thing").onlyRow()["n"] == 1)
        }
    }

    @Test func aTransactionThatThrowsLeavesNothing() async throws {
        try await withDatabase { database in
            _ = try await database.query("CREATE TABLE thing (id bigint PRIMARY KEY)")
            struct Stop: Error {}
            await #expect(throws: Stop.self) {
                try await database.transaction { transaction in
                    _ = try await transaction.query("INSERT INTO thing VALUES (1)")
                    throw Stop()
                }
            }
            try await database.transaction { transaction in
                _ = try await transaction.query("INSERT INTO thing VALUES (2)")
            }
            #expect(try await database.query("SELECT id FROM thing").map { try $0["id"] } == [2])
        }
    }

    @Test func sessionsComeBackAfterTheDatabaseEndsThem() async throws {
        var limits = Database.Limits.patient
        limits.connections = 1
        try await withDatabase(limits) { database in
            let mine: Int = try await database.query("SELECT pg_backend_pid() AS pid").onlyRow()["pid"]
            _ = try? await database.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()")
            let next: Int = try await database.query("SELECT pg_backend_pid() AS pid").onlyRow()["pid"]
            #expect(mine != next)
        }
    }

    @Test("a transaction whose statement failed is not committed, even where the failure was ignored")
    func commitOfAnAbortedTransaction() async throws {
        try await withDatabase { database in
            _ = try await database.query("CREATE TABLE thing (id bigint PRIMARY KEY)")
            let error = await #expect(throws: PostgresError.self) {
                try await database.transaction { transaction in
                    _ = try await transaction.query("INSERT INTO thing VALUES (1)")
                    _ = try? await transaction.query("INSERT INTO thing VALUES (1)")
                }
            }
            #expect(error?.sqlState == "25P02")
            #expect(try await database.query("SELECT count(*) AS n FROM thing").onlyRow()["n"] == 0)
        }
    }

    @Test(
        "a script that copies over the connection is refused, and the next statement gets a session",
        arguments: [
            "COPY thing FROM STDIN", "COPY thing TO STDOUT", "SELECT 1; COPY thing TO STDOUT; SELECT 2",
        ])
    func copyInAScript(script: String) async throws {
        var limits = Database.Limits.patient
        limits.connections = 1
        try await withDatabase(limits) { database in
            _ = try await database.query("CREATE TABLE thing (id bigint PRIMARY KEY)")
            let error = await #expect(throws: PostgresError.self) {
                try await database.transaction { try await $0.run(script: script) }
            }
            #expect(error?.sqlState == "0A000")
            #expect(try await database.query("SELECT count(*) AS n FROM thing").onlyRow()["n"] == 0)
        }
    }

    @Test("migrations of one number, and a number that is missing, are refused by that number")
    func migrationNumbers() throws {
        func fault(_ names: String...) throws -> String? {
            let files = try names.map { try #require(Migrator.Migration(fileName: $0, sql: "")) }
            return #expect(throws: Migrator.MigrationError.self) { try Migrator(files) }?.description
        }
        let doubled = try fault("1_a.sql", "1_b.sql", "2_c.sql")
        #expect(doubled?.contains("two files in the folder are migration 1:") == true)
        #expect(try fault("1_a.sql", "3_c.sql")?.contains("migration 2 is missing") == true)
        for name in ["+1_a.sql", "-1_a.sql", "0_a.sql", "_a.sql", "1.sql"] {
            #expect(Migrator.Migration(fileName: name, sql: "") == nil, "\(name)")
        }
    }

    @Test("a migration without a statement is applied", arguments: ["", "-- Nothing to do.\n", " ;; "])
    func emptyMigration(sql: String) async throws {
        try await withDatabase { database in
            let file = try #require(Migrator.Migration(fileName: "0001_nothing.sql", sql: sql))
            let migrator = try Migrator([file])
            try await migrator.run(database) { _ in }
            #expect(try await migrator.pendingMigrations(database).isEmpty)
        }
    }

    @Test("a query on a closed pool fails with unavailable")
    func closedPool() async throws {
        try await withDatabase { database in
            _ = try await database.query("SELECT 1")
            database.close()
            let error = await #expect(throws: PostgresError.self) { _ = try await database.query("SELECT 1") }
            #expect(error == .unavailable("the pool of sessions is closed"))
        }
    }

    @Test("closing ends attempts to connect at once: an unfinished one would hold up the database's other sessions")
    func closingGivesUpAttempts() async throws {
        let listener = try SilentListener()
        let loop = try EventLoop(name: "test")
        try loop.start()
        try await loop.runTask { poller in
            let options = try ConnectionOptions(url: "postgres://nobody@127.0.0.1:\(listener.port)/nothing")
            let database = Database(options, poller: poller)
            database.open()
            // The attempt begins with a task of its own, which runs before this one.
            await withCheckedContinuation { begun in poller.spawn { begun.resume() } }
            database.close()
        }
        loop.stop()
        #expect(listener.nextConnectionEnds())
    }

    @Test func aFullQueueAndALongWaitAreRefused() async throws {
        var limits = Database.Limits()
        limits.connections = 1
        limits.batchesPerConnection = 1
        limits.waitingRequests = 1
        try await withDatabase(limits) { database in
            _ = try await database.query("SELECT 1")
            try await database.transaction { transaction in
                _ = try await transaction.query("SELECT 1")
                // The only session is held: one may wait, and gives up in time; the other is refused at once.
                let reasons = await together(2, on: database) { _ in
                    _ = try await database.query("SELECT 2")
                    return "answered"
                }.map(\.outcome)
                #expect(
                    reasons == [
                        "database unavailable: too many requests are waiting",
                        "database unavailable: no session became free in time",
                    ])
            }
            #expect(try await database.query("SELECT 3 AS n").onlyRow()["n"] == 3)
            #expect(database.refusalCount == 2)
        }
    }

    @Test("whoever is cancelled while waiting for a session gives up their place at once, and is not served")
    func cancelledWaits() async throws {
        var limits = Database.Limits.patient
        limits.connections = 1
        limits.batchesPerConnection = 1
        limits.waitingRequests = 2
        try await withDatabase(limits) { database in
            _ = try await database.query("CREATE TABLE thing (id bigint)")
            let outcomes: [String] = try await database.transaction { transaction in
                _ = try await transaction.query("SELECT 1")
                let outcomes = Outcomes()
                let tasks = [1, 2].map { number in
                    database.poller.spawnCancellable {
                        outcomes.add(
                            await outcome { _ = try await database.query("INSERT INTO thing VALUES (\(number))") })
                    }
                }
                // One turn: both wait, and nobody else may.
                _ = try await transaction.query("SELECT 1")
                #expect(database.waitingRequests == 2)
                outcomes.add(await outcome { _ = try await database.query("SELECT 2") })
                tasks[0].cancel()
                await tasks[0].value
                #expect(database.waitingRequests == 1)
                // Cancelled before it begins to wait.
                let late = database.poller.spawnCancellable {
                    outcomes.add(await outcome { _ = try await database.query("INSERT INTO thing VALUES (3)") })
                }
                late.cancel()
                await late.value
                tasks[1].cancel()
                await tasks[1].value
                #expect(database.waitingRequests == 0)
                return outcomes.all
            }
            let gone = "database unavailable: the request was cancelled"
            #expect(outcomes == ["database unavailable: too many requests are waiting", gone, gone, gone])
            #expect(try await database.query("SELECT count(*) AS n FROM thing").onlyRow()["n"] == 0)
        }
    }

    @Test("a read that waits to be shared, and a write that waits for its batch, are not run once cancelled")
    func cancelledInQueue() async throws {
        var limits = Database.Limits.patient
        limits.connections = 3
        limits.mergedStatementsInFlight = 1
        try await withDatabase(limits) { database in
            _ = try await database.query("CREATE TABLE thing (id bigint)")
            let commits = GroupCommit(database, batchLimit: 1, concurrency: 1)
            let outcomes = Outcomes()
            func spawn(_ body: @escaping () async throws -> Void) -> Task<Void, Never> {
                database.poller.spawnCancellable { outcomes.add(await outcome(body)) }
            }
            let key = GroupCommit.Key(high: 0, low: 1)
            // The first read and the first write wait for a lock until the transaction ends.
            let first = try await database.transaction { transaction in
                _ = try await transaction.query("SELECT pg_advisory_xact_lock(7)")
                let first = [
                    spawn { _ = try await database.read("SELECT pg_advisory_xact_lock_shared(7)") },
                    spawn {
                        let write: SQL = "INSERT INTO thing SELECT 1 FROM pg_advisory_xact_lock_shared(7)"
                        _ = try await commits.run(write, key: key)
                    },
                ]
                // They are under way by now.
                _ = try await transaction.query("SELECT 1")
                let behind = [
                    spawn { _ = try await database.read("SELECT 2") },
                    spawn { _ = try await commits.run("INSERT INTO thing VALUES (2)", key: key) },
                ]
                await nextTurn(of: database)
                for task in behind { task.cancel() }
                for task in behind { await task.value }
                let gone = "database unavailable: the request was cancelled"
                #expect(outcomes.all == [gone, gone])
                return first
            }
            for task in first { await task.value }
            #expect(outcomes.all.suffix(2) == ["done", "done"])
            #expect(try await database.query("SELECT count(*) AS n FROM thing").onlyRow()["n"] == 1)
        }
    }

    @Test("a statement that a failed pipeline never prepared is prepared for those behind it on the session")
    func aSkippedPrepareIsNobodyElses() async throws {
        var limits = Database.Limits.patient
        limits.connections = 1
        limits.batchesPerConnection = 16
        try await withDatabase(limits) { database in
            let session: Int = try await database.query("SELECT pg_backend_pid() AS pid").onlyRow()["pid"]
            let outcomes = await together(16, on: database) { number in
                // The odd ones are refused by their first statement, so their second is never prepared.
                let rows = try await database.pipeline([
                    "SELECT 1 / \(number % 2 == 0 ? 1 : 0) AS one", "SELECT \(number) AS n",
                ])
                return "\(try rows[1].onlyRow()["n"] as Int)"
            }.map(\.outcome)
            #expect(outcomes == (1...16).map { $0 % 2 == 0 ? "\($0)" : "22012" })
            #expect(try await database.query("SELECT pg_backend_pid() AS pid").onlyRow()["pid"] == session)
        }
    }

    @Test func writesShareATransactionAndABadOneSpoilsNobodysWork() async throws {
        try await withDatabase { database in
            _ = try await database.query(
                "CREATE TABLE thing (id bigint PRIMARY KEY CHECK (id <> 13), tx bigint DEFAULT txid_current())")
            let commits = GroupCommit(database, batchLimit: 8, concurrency: 1)
            let outcomes = await together(32, on: database) { number in
                let rows = try await commits.run(
                    "INSERT INTO thing VALUES (\(number)) RETURNING id",
                    key: GroupCommit.Key(high: 0, low: UInt64(number)))
                return "\(try rows.onlyRow()["id"] as Int)"
            }.inOrder
            #expect(outcomes == (1...32).map { $0 == 13 ? "23514" : "\($0)" })
            let row = try await database.query("SELECT count(*) AS n, count(DISTINCT tx) AS txs FROM thing").onlyRow()
            #expect(try row["n"] == 31)
            #expect(try (row["txs"] as Int) < 20)
        }
    }

    @Test("a migration that does not get its locks lets those behind it pass, and is tried again")
    func migrationBehindALock() async throws {
        try await withDatabase { database in
            _ = try await database.query("CREATE TABLE thing (id bigint)")
            let file = try #require(
                Migrator.Migration(fileName: "0001_more.sql", sql: "ALTER TABLE thing ADD COLUMN more text"))
            let migrator = try Migrator([file])
            var tries = 0
            try await database.transaction { transaction in
                _ = try await transaction.query("SELECT id FROM thing")
                let fault = await #expect(throws: Migrator.MigrationError.self) {
                    try await migrator.run(database, lockTimeout: .milliseconds(20)) { _ in tries += 1 }
                }
                #expect(fault?.description.contains("55P03") == true)
            }
            #expect(tries == 15)
            #expect(try await migrator.pendingMigrations(database).count == 1)
            try await migrator.run(database) { _ in }
            #expect(try await migrator.pendingMigrations(database).isEmpty)
        }
    }
}

/// What some tasks of one loop came to, in the order in which they ended.
private final class Outcomes {
    private(set) var all: [String] = []

    func add(_ outcome: String) { all.append(outcome) }
}

private func outcome(_ body: () async throws -> Void) async -> String {
    do {
        try await body()
        return "done"
    } catch {
        return "\(error)"
    }
}

/// Returns when what was spawned before has run until it waits for something.
private func nextTurn(of database: Database) async {
    await withCheckedContinuation { continuation in
        database.poller.runAtEndOfTurn { continuation.resume() }
    }
}
