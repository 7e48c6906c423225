import CSQLite
import SQL

/// A compiled statement, cached for the next run of the same text.
@safe final class PreparedStatement {
    private let handle: OpaquePointer
    private let database: OpaquePointer
    let columnNames: [String]
    private(set) var isInUse = false

    init(_ text: String, _ database: OpaquePointer) throws(SQLiteError) {
        unsafe self.database = unsafe database
        var compiledHandle: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        let code = unsafe sqlite3_prepare_v3(database, text, -1, flags, &compiledHandle, nil)
        guard code == SQLITE_OK, let compiledHandle = unsafe compiledHandle else {
            throw SQLiteError(code: code, unsafe String(cString: sqlite3_errmsg(database)))
        }
        unsafe handle = compiledHandle
        columnNames = (0..<(unsafe sqlite3_column_count(compiledHandle))).map { column in
            unsafe sqlite3_column_name(compiledHandle, column).map { unsafe String(cString: $0) } ?? ""
        }
    }

    deinit { unsafe sqlite3_finalize(handle) }

    var isReadOnly: Bool { unsafe sqlite3_stmt_readonly(handle) != 0 }

    /// Resets the statement for the next run and clears its bindings.
    func reset() {
        isInUse = false
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    /// Binds the parameters in order, and marks the statement as in use until `reset`. SQLite copies texts and bytes.
    func bind(_ values: [SQLValue]) throws(SQLiteError) {
        isInUse = true
        for (index, value) in values.enumerated() {
            let code = bind(value, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw SQLiteError(code: code, "bind") }
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .null: unsafe sqlite3_bind_null(handle, index)
        case .boolean(let flag): unsafe sqlite3_bind_int64(handle, index, flag ? 1 : 0)
        case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
        case .double(let number): unsafe sqlite3_bind_double(handle, index, number)
        case .text(let text), .json(let text): bind(text, at: index)
        case .bytes(let bytes): bind(bytes, at: index)
        case .uuid(let high, let low): bind(uuidBytes(high, low), at: index)
        case .timestamp(let microseconds): unsafe sqlite3_bind_int64(handle, index, microseconds)
        // Arrays are for PostgreSQL; here a statement runs once for each element.
        case .array: SQLITE_MISMATCH
        }
    }

    private func bind(_ text: String, at index: Int32) -> Int32 {
        // The text has a trailing zero, which the length leaves out.
        unsafe sqlite3_bind_text64(handle, index, text, UInt64(text.utf8.count), sqliteTransient, UInt8(SQLITE_UTF8))
    }

    private func bind(_ bytes: [UInt8], at index: Int32) -> Int32 {
        if bytes.isEmpty { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
        return unsafe bytes.withUnsafeBytes {
            unsafe sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), sqliteTransient)
        }
    }

    /// Advances to the next row. Returns false if there is none.
    func step() throws(SQLiteError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw SQLiteError(code: code, unsafe String(cString: sqlite3_errmsg(database)))
        }
    }

    // MARK: Current row

    func cell(_ column: Int) -> SQLiteCell {
        let column = Int32(column)
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .double(unsafe sqlite3_column_double(handle, column))
        case SQLITE_TEXT:
            let start = unsafe sqlite3_column_text(handle, column)
            let bytes = unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
            return unsafe .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let start = unsafe sqlite3_column_blob(handle, column)
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
            return unsafe .bytes([UInt8](bytes))
        default: return .null
        }
    }

    func integerOrZero(_ column: Int) -> Int64 { unsafe sqlite3_column_int64(handle, Int32(column)) }
}

/// Makes SQLite copy a value before the call returns: SQLITE_TRANSIENT, which C defines as a cast.
private let sqliteTransient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)

private func uuidBytes(_ high: UInt64, _ low: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    for word in [high, low] {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
        }
    }
    return bytes
}
