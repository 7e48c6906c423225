import Domain
import DomainSQL
import Foundation
import SQL
import Testing

@testable import SQLite

@Suite("SQLite")
struct SQLiteTests {
    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("values read back from SQLite as they were written")
    func values() async throws {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/a.db")
            let id = NagID(high: 0x0102_0304_0506_0708, low: .max)
            let (text, bytes): (String, [UInt8]) = ("é\u{0}'; DROP TABLE x; --👍", [0, 255, 1])
            let none: String? = nil
            let rows: [[Bool]] = try database.rows(
                """
                SELECT \(id) AS id, \(text) AS text, \(bytes) AS bytes, \(Int64.min) AS number, \(true) AS flag, \(0.1) AS double,
                       \(start) AS moment, \(none) AS none, \("") AS empty, \([UInt8]()) AS blank, typeof(\("")) AS kind
                """
            ) { row throws(SQLiteError) in
                [
                    try row["id"] == id, try row["text"] == text, try row["bytes"] == bytes,
                    try row["number"] == Int64.min, try row["flag"] == true, try row["double"] == 0.1,
                    try row["moment"] == start, try row["none"] == none, try row["empty"] == "",
                    try row["blank"] == [UInt8](), try row["kind"] == "text",
                ]
            }
            #expect(rows == [[Bool](repeating: true, count: 11)])
        }
    }

    @Test("a row of another shape is an error")
    func shapes() async throws {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/a.db")
            #expect(throws: SQLiteError.unexpectedShape("no column b")) {
                try database.rows("SELECT 1 AS a") { row throws(SQLiteError) in try row["b"] as Int }
            }
            #expect(throws: SQLiteError.self) {
                try database.rows("SELECT 'x' AS a") { row throws(SQLiteError) in try row["a"] as Int }
            }
            #expect(throws: SQLiteError.self) {
                try database.rows("SELECT NULL AS a") { row throws(SQLiteError) in try row["a"] as Int }
            }
            #expect(throws: SQLiteError.self) { try database.run("SELECT \(SQLList(["a"]))") }
            #expect(throws: SQLiteError.self) { try database.run(SQL(unsafeSQL: "SELECT 1")) }
        }
    }

    @Test("a statement can run again inside its own rows")
    func reentrant() async throws {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/a.db")
            func count(_ depth: Int) throws(SQLiteError) -> Int {
                try database.rows("SELECT 1 AS a UNION ALL SELECT 2") { row throws(SQLiteError) -> Int in
                    depth == 0 ? 1 : try count(depth - 1)
                }.reduce(0, +)
            }
            #expect(try count(3) == 16)
        }
    }

    @Test("a transaction is all or nothing, and foreign keys hold")
    func transactions() async throws {
        try await withFolder { folder in
            let database = try SQLiteDatabase(path: folder + "/a.db")
            try database.migrate([
                "CREATE TABLE a (id INTEGER PRIMARY KEY) STRICT; CREATE TABLE b (a INTEGER NOT NULL REFERENCES a) STRICT"
            ])
            struct Halt: Error {}
            #expect(throws: Halt.self) {
                try database.transaction {
                    try database.run("INSERT INTO a VALUES (1)")
                    throw Halt()
                }
            }
            #expect(
                try database.first("SELECT count(*) FROM a") { row throws(SQLiteError) in row.integerOrZero(0) } == 0)
            do {
                try database.run("INSERT INTO b VALUES (7)")
                Issue.record("a foreign key did not hold")
            } catch SQLiteError.constraint {}
            try database.transaction { try database.run("INSERT INTO a VALUES (2)") }
            #expect(try database.first("SELECT id FROM a") { row throws(SQLiteError) in row.integerOrZero(0) } == 2)
        }
    }

    @Test("SQLite's file, its side files, and one that was open to all, get mode 600")
    func modes() async throws {
        try await withFolder { folder in
            let path = folder + "/a.db"
            _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o666])
            let database = try SQLiteDatabase(path: path)
            try database.run(script: "CREATE TABLE a (b)")
            for suffix in ["", "-wal", "-shm"] { #expect(try mode(path + suffix) == 0o600, "\(suffix)") }
            try FileManager.default.createSymbolicLink(atPath: folder + "/link.db", withDestinationPath: path)
            #expect(throws: SQLiteError.self) { try SQLiteDatabase(path: folder + "/link.db") }
        }
    }

    @Test("migrations run once and in order; a newer file is refused untouched")
    func migrations() async throws {
        try await withFolder { folder in
            let path = folder + "/a.db"
            let all = ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y", "CREATE TABLE b (z)"]
            for count in 1...3 { try SQLiteDatabase(path: path).migrate(Array(all.prefix(count))) }
            let before = try Data(contentsOf: URL(filePath: path))
            #expect(throws: SQLiteError.newerSchema(version: 3)) {
                try SQLiteDatabase(path: path).migrate(Array(all.prefix(2)))
            }
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
            // One that fails leaves the version before.
            #expect(throws: SQLiteError.self) {
                try SQLiteDatabase(path: path).migrate(all + ["CREATE TABLE c (x); CREATE TABLE c (x)"])
            }
            try SQLiteDatabase(path: path).migrate(all + ["CREATE TABLE c (x)"])
        }
    }

    @Test("SQLite reports a file that is no database, a damaged page, a full disk and a missing folder apart")
    func faults() async throws {
        try await withFolder { folder in
            let junk = folder + "/junk.db"
            try Data((0..<9_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }).write(to: URL(filePath: junk))
            #expect(throws: SQLiteError.corrupt) { try SQLiteDatabase(path: junk).migrate(["CREATE TABLE a (x)"]) }
            do {
                _ = try SQLiteDatabase(path: folder + "/none/a.db")
                Issue.record("a folder that is not there")
            } catch SQLiteError.inaccessible {}
            let database = try SQLiteDatabase(path: folder + "/full.db")
            try database.run(script: "CREATE TABLE a (x)")
            try database.limitPages(to: 20)
            let (big, written): ([UInt8], Int64) = ([UInt8](repeating: 1, count: 10_000), 5)
            #expect(throws: SQLiteError.full) {
                try database.transaction { for _ in 0..<100 { try database.run("INSERT INTO a VALUES (\(big))") } }
            }
            #expect(
                try database.first("SELECT count(*) FROM a") { row throws(SQLiteError) in row.integerOrZero(0) } == 0)
            try database.transaction { try database.run("INSERT INTO a VALUES (\(written))") }
            #expect(database.passesQuickCheck())
        }
    }
}
