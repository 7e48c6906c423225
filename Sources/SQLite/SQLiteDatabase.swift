import CSQLite
import Glibc
import SQL

/// One open SQLite file, used by one thread at a time.
///
/// The file, and those that SQLite creates beside it (`-wal`, `-shm`), can be read by their owner only. Writes use a
/// write-ahead log: if the process dies at any moment, the file holds every committed transaction and nothing of any
/// other. Foreign keys are enforced. A call waits for a lock of another process until the busy timeout ends.
/// Statements with runtime text or an array among their values fail.
@safe public final class SQLiteDatabase {
    /// The durability of a committed transaction: the event that it survives.
    public enum Durability: Sendable {
        /// The end of the process. A power cut may lose the transaction, but leaves the file consistent.
        case processEnd
        /// The end of the process, and a power cut.
        case powerCut
    }

    private let handle: OpaquePointer
    private var statements: [SQL.StatementKey: PreparedStatement] = [:]
    private var isInTransaction = false
    /// The function that is called after each `run` of a statement, and after each `rows` of one that may write. Tests
    /// use it to read what a process that dies at this moment leaves in the file.
    var afterWrite: (() -> Void)?

    /// The maximum number of cached statements. A further one empties the cache.
    private static let maxCachedStatements = 128
    private static let busyTimeoutMilliseconds: Int32 = 5_000

    /// Opens the file, and creates it if it is missing.
    /// - Throws: `corrupt` for a file that is not a database, `inaccessible` if it cannot be opened.
    public init(
        path: String, durability: Durability = .processEnd
    ) throws(SQLiteError) {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .inaccessible(code: SQLITE_CANTOPEN) }
        // SQLite gives the files beside it the same mode.
        let isPrivate = fchmod(descriptor, 0o600) == 0
        close(descriptor)
        guard isPrivate else { throw .inaccessible(code: SQLITE_PERM) }
        var openedHandle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW
        let code = unsafe sqlite3_open_v2(path, &openedHandle, flags, nil)
        guard code == SQLITE_OK, let openedHandle = unsafe openedHandle else {
            unsafe sqlite3_close_v2(openedHandle)
            throw SQLiteError(code: code, "open")
        }
        unsafe handle = openedHandle
        unsafe sqlite3_busy_timeout(openedHandle, Self.busyTimeoutMilliseconds)
        try run(script: "PRAGMA journal_mode = WAL")
        try run(script: "PRAGMA foreign_keys = ON")
        try run(script: "PRAGMA trusted_schema = OFF")
        try run(script: durability == .powerCut ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
    }

    deinit {
        statements.removeAll()
        unsafe sqlite3_close_v2(handle)
    }

    // MARK: Statements

    /// Runs a statement, and returns the value that `read` makes of each row.
    public func rows<Value>(
        _ statement: SQL, _ read: (SQLiteRow) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> [Value] {
        let prepared = try prepare(statement)
        defer { prepared.reset() }
        try prepared.bind(statement.values)
        var values: [Value] = []
        while try prepared.step() { values.append(try read(SQLiteRow(statement: prepared))) }
        if !prepared.isReadOnly { afterWrite?() }
        return values
    }

    /// Runs a statement, and returns the value that `read` makes of the first row; nil if there is no row.
    public func first<Value>(
        _ statement: SQL, _ read: (SQLiteRow) throws(SQLiteError) -> Value
    ) throws(SQLiteError) -> Value? {
        let prepared = try prepare(statement)
        defer { prepared.reset() }
        try prepared.bind(statement.values)
        guard try prepared.step() else { return nil }
        return try read(SQLiteRow(statement: prepared))
    }

    /// Runs a statement that changes rows.
    /// - Returns: the number of rows that were inserted, updated or deleted.
    @discardableResult
    public func run(_ statement: SQL) throws(SQLiteError) -> Int {
        let prepared = try prepare(statement)
        defer { prepared.reset() }
        try prepared.bind(statement.values)
        while try prepared.step() {}
        afterWrite?()
        return Int(unsafe sqlite3_changes64(handle))
    }

    /// Runs several statements without parameters. The script MUST NOT contain input.
    public func run(script: String) throws(SQLiteError) {
        let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Runs `body` as one transaction: all of it is committed or, if it throws or the process dies, nothing.
    ///
    /// The transaction takes the write lock first, so that `body` cannot fail later because another process writes.
    /// It MUST NOT be called within a transaction.
    @discardableResult
    public func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        precondition(!isInTransaction, "transactions do not nest")
        try run("BEGIN IMMEDIATE")
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            let value = try body()
            try run("COMMIT")
            return value
        } catch {
            // After some errors (a full disk) SQLite has rolled back by itself.
            if unsafe sqlite3_get_autocommit(handle) == 0 { try? run(script: "ROLLBACK") }
            throw error
        }
    }

    // MARK: Schema

    /// Applies the migrations that the file lacks, each in one transaction with its version number. The first migration
    /// is version 1.
    /// - Throws: `newerSchema` if more migrations were applied to the file than `migrations` contains.
    public func migrate(_ migrations: [String]) throws {
        var version = try userVersion()
        guard version <= migrations.count else { throw SQLiteError.newerSchema(version: version) }
        while version < migrations.count {
            try transaction {
                // Another process may have migrated while this one waited for the lock.
                version = try userVersion()
                guard version < migrations.count else { return }
                try run(script: migrations[version])
                version += 1
                try run(script: "PRAGMA user_version = \(version)")
            }
        }
    }

    private func userVersion() throws(SQLiteError) -> Int {
        try first("PRAGMA user_version") { row throws(SQLiteError) in try row["user_version"] } ?? 0
    }

    /// Returns whether the file's pages are consistent, by a quick check that leaves out the indexes' contents.
    public func passesQuickCheck() -> Bool {
        let findings = try? rows("PRAGMA quick_check(1)") { row throws(SQLiteError) in try row["quick_check"] as String
        }
        return findings == ["ok"]
    }

    /// Makes SQLite overwrite data with zeros whenever it is deleted from now on.
    public func enableSecureDelete() throws(SQLiteError) { try run(script: "PRAGMA secure_delete = ON") }

    /// Rewrites the file, so that it contains no deleted data, and empties the write-ahead log. MUST NOT be called
    /// within a transaction.
    public func vacuum() throws(SQLiteError) {
        try run(script: "VACUUM")
        try run(script: "PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Limits the file to `count` pages, each of 4 KiB.
    public func limitPages(to count: Int) throws(SQLiteError) { try run(script: "PRAGMA max_page_count = \(count)") }

    /// Returns the size of the file's pages that are in use, in bytes.
    public func usedBytes() throws(SQLiteError) -> Int {
        let (pageCount, freePageCount, pageBytes) = (
            try pragma("PRAGMA page_count"), try pragma("PRAGMA freelist_count"), try pragma("PRAGMA page_size")
        )
        return (pageCount - freePageCount) * pageBytes
    }

    private func pragma(_ statement: SQL) throws(SQLiteError) -> Int {
        try first(statement) { row throws(SQLiteError) in row.integerOrZero(0) }.map { Int($0) } ?? 0
    }

    // MARK: Preparing

    private func prepare(_ statement: SQL) throws(SQLiteError) -> PreparedStatement {
        guard let key = statement.statementKey else {
            throw .failed(code: SQLITE_MISUSE, "a statement of runtime text")
        }
        if let cached = statements[key], !cached.isInUse { return cached }
        let prepared = try unsafe PreparedStatement(statement.text, handle)
        if statements.count >= Self.maxCachedStatements { statements.removeAll() }
        statements[key] = prepared
        return prepared
    }

    private func error(_ code: Int32) -> SQLiteError {
        let message = unsafe String(cString: sqlite3_errmsg(handle))
        return SQLiteError(code: code, message)
    }
}
