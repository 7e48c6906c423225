import CPostgres
import Glibc
import SQL

/// The result rows of one statement, in libpq's memory and in binary format.
@safe public final class Rows: RandomAccessCollection {
    private let result: OpaquePointer
    /// The rows of the merged statement, whose memory these share; nil for rows with their own memory.
    private let mergedRows: Rows?
    private let rowOffset: Int
    private let columnOffset: Int
    public let count: Int
    public let startIndex = 0
    public var endIndex: Int { count }
    let columnCount: Int
    private var nextColumn = 0
    /// The number of rows that the statement inserted, updated, deleted or selected. For a merged statement it is the
    /// number of the whole result.
    public var affectedRows: Int { Int(unsafe String(cString: PQcmdTuples(result))) ?? 0 }

    /// The command tag: `COMMIT`, or `INSERT 0 1`.
    var commandTag: String { unsafe String(cString: PQcmdStatus(result)) }

    /// The bytes of the result in memory; for a merged statement, of its whole result.
    public var memoryBytes: Int { unsafe PQresultMemorySize(result) }
    /// The share of `memoryBytes` for these rows, if all rows have the same size.
    public var memoryShare: Int { mergedRows.map { memoryBytes / Swift.max(1, $0.count) * count } ?? memoryBytes }

    init(adopting result: OpaquePointer) {
        unsafe self.result = unsafe result
        (mergedRows, rowOffset, columnOffset) = (nil, 0, 0)
        count = Int(unsafe PQntuples(result))
        columnCount = Int(unsafe PQnfields(result))
    }

    /// Creates a range of rows of `merged`, without its first column.
    private init(_ range: Range<Int>, of merged: Rows) {
        unsafe result = unsafe merged.result
        (mergedRows, rowOffset, columnOffset) = (merged, range.lowerBound, 1)
        count = range.count
        columnCount = Swift.max(0, merged.columnCount - 1)
    }

    deinit { if mergedRows == nil { unsafe PQclear(result) } }

    /// Splits the rows of a merged statement by its first column, the ordinal of the original statement, from 1.
    /// - Throws: `unexpectedShape` if the rows of a statement are not adjacent, or an ordinal is out of range.
    func split(among statementCount: Int) throws(PostgresError) -> [Rows] {
        var ranges = [Range<Int>?](repeating: nil, count: statementCount)
        var lastOrdinal = 0
        for row in 0..<count {
            let ordinal = Int(Row(rows: self, index: row).integerOrZero(0))
            guard (1...statementCount).contains(ordinal), ordinal == lastOrdinal || ranges[ordinal - 1] == nil else {
                throw .unexpectedShape("rows of a merged statement")
            }
            ranges[ordinal - 1] = (ranges[ordinal - 1]?.lowerBound ?? row)..<(row + 1)
            lastOrdinal = ordinal
        }
        return ranges.map { Rows($0 ?? 0..<0, of: self) }
    }

    /// - Precondition: `index` is in `0..<count`.
    public subscript(index: Int) -> Row {
        precondition(index >= 0 && index < count)
        return Row(rows: self, index: index)
    }

    /// Returns the only row.
    /// - Throws: `unexpectedShape` unless there is exactly one row.
    public func onlyRow() throws(PostgresError) -> Row {
        guard count == 1, let first else { throw .unexpectedShape("\(count) rows instead of one") }
        return first
    }

    /// Returns the index of a column. The search starts after the last column found, because columns are mostly read in
    /// order.
    func columnIndex(of name: StaticString) -> Int? {
        var column = nextColumn
        for _ in 0..<columnCount {
            if column >= columnCount { column = 0 }
            defer { column += 1 }
            guard let candidate = unsafe PQfname(result, Int32(column + columnOffset)) else { continue }
            if unsafe strcmp(candidate, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)) == 0 {
                nextColumn = column + 1
                return column
            }
        }
        return nil
    }

    /// Returns the number of bytes of a row's cells.
    fileprivate func byteCount(_ row: Int) -> Int {
        precondition(row < count)
        var bytes = 0
        for column in columnOffset..<columnOffset + columnCount {
            bytes += Int(
                unsafe PQgetlength(
                    result, Int32(truncatingIfNeeded: row &+ rowOffset), Int32(truncatingIfNeeded: column)))
        }
        return bytes
    }

    /// Lends the bytes of a cell, or nil for null. The caller MUST keep to `0..<count` and `0..<columnCount`.
    @inline(__always)
    func withCell<Value>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer?) -> Value) -> Value {
        precondition(row < count && column < columnCount)
        let row = Int32(truncatingIfNeeded: row &+ rowOffset)
        let column = Int32(truncatingIfNeeded: column &+ columnOffset)
        let length = Int(unsafe PQgetlength(result, row, column))
        if length == 0, unsafe PQgetisnull(result, row, column) != 0 { return body(nil) }
        return unsafe body(UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: length))
    }

    func typeOID(of column: Int) -> Oid { unsafe PQftype(result, Int32(truncatingIfNeeded: column &+ columnOffset)) }
}

/// One row of a result.
public struct Row {
    @usableFromInline let rows: Rows
    let index: Int

    /// The value of the column with that name.
    /// - Throws: `unexpectedShape` if there is no such column, or its value cannot be read as this type.
    @inlinable
    public subscript<Value: SQLDecodable>(name: StaticString) -> Value {
        get throws(PostgresError) {
            // The cell points into the memory of `rows`.
            defer { withExtendedLifetime(rows) {} }
            guard let value = Value(cell: try cell(name)) else { throw mismatch(name, Value.self) }
            return value
        }
    }

    /// Returns the elements of the array in the column with that name; nil for null.
    /// - Throws: `unexpectedShape` if there is no such column, or it holds no array of one dimension of such elements.
    public func list<Element: SQLDecodable>(_ name: StaticString) throws(PostgresError) -> [Element]? {
        // The cell points into the memory of `rows`.
        defer { withExtendedLifetime(rows) {} }
        guard let cell = try cell(name) else { return nil }
        guard let elements: [Element] = cell.elements() else { throw mismatch(name, [Element].self) }
        return elements
    }

    /// Returns the cell; nil for null. It is valid while the caller keeps `rows`.
    @usableFromInline
    func cell(_ name: StaticString) throws(PostgresError) -> Cell? {
        guard let column = rows.columnIndex(of: name) else { throw .unexpectedShape("no column \(name)") }
        let typeOID = rows.typeOID(of: column)
        return unsafe rows.withCell(index, column) { bytes in unsafe bytes.map { unsafe Cell($0, typeOID) } }
    }

    @usableFromInline
    func mismatch(_ name: StaticString, _ type: Any.Type) -> PostgresError {
        .unexpectedShape("column \(name) is not a \(type)")
    }

    /// The number of bytes of the row's cells.
    public var byteCount: Int { rows.byteCount(index) }

    // MARK: By column index, for long results with fixed columns

    public func isNull(_ column: Int) -> Bool { unsafe rows.withCell(index, column) { unsafe $0 == nil } }

    /// Returns a signed integer of two, four or eight bytes; 0 for null and other sizes.
    public func integerOrZero(_ column: Int) -> Int64 {
        unsafe rows.withCell(index, column) { bytes in unsafe bytes.flatMap { unsafe bigEndianInteger($0) } ?? 0 }
    }

    /// Returns a UUID as two numbers; zeros for null and for values that are not 16 bytes long.
    public func uuidOrZero(_ column: Int) -> (high: UInt64, low: UInt64) {
        unsafe rows.withCell(index, column) { bytes in unsafe bytes.flatMap { unsafe uuidWords($0) } ?? (0, 0) }
    }

    /// Returns a timestamptz in microseconds since 1970-01-01T00:00:00Z; nil when null.
    public func timestampMicroseconds(_ column: Int) -> Int64? {
        unsafe rows.withCell(index, column) { bytes in
            unsafe bytes.flatMap { unsafe bigEndianInteger($0) }.map { $0 &+ postgresEpochMicroseconds }
        }
    }

    /// Returns the text of a column; nil for null and for invalid UTF-8.
    public func text(_ column: Int) -> String? {
        unsafe rows.withCell(index, column) { bytes in unsafe bytes.flatMap { unsafe Cell($0, SQLType.text.oid).text } }
    }

    /// Lends the bytes of a text or bytea cell; nil for null.
    @inline(__always)
    public func withBytes<Value>(_ column: Int, _ body: (Swift.Span<UInt8>?) -> Value) -> Value {
        unsafe rows.withCell(index, column) { bytes in
            guard let bytes = unsafe bytes else { return body(nil) }
            return unsafe body(Swift.Span(_unsafeBytes: bytes))
        }
    }
}

/// The bytes of one value and its PostgreSQL type, valid only during the decoding call.
@safe public struct Cell: SQLCell {
    private let memory: UnsafeRawBufferPointer
    private let typeOID: Oid

    fileprivate init(_ memory: UnsafeRawBufferPointer, _ typeOID: Oid) {
        unsafe self.memory = unsafe memory
        self.typeOID = typeOID
    }

    public var boolean: Bool? { unsafe memory.count == 1 ? memory[0] != 0 : nil }

    /// An integer of two, four or eight bytes.
    public var integer: Int64? { unsafe bigEndianInteger(memory) }

    public var double: Double? {
        typeOID == SQLType.double.oid ? integer.map { Double(bitPattern: UInt64(bitPattern: $0)) } : nil
    }

    /// The value as text; nil if it is not valid UTF-8. For jsonb it is the JSON text.
    public var text: String? {
        // In jsonb a version byte precedes the text.
        let start = typeOID == SQLType.json.oid ? Swift.min(1, unsafe memory.count) : 0
        let bytes = unsafe Swift.Span<UInt8>(_unsafeBytes: memory).extracting(start...)
        guard let text = try? UTF8Span(validating: bytes) else { return nil }
        return String(copying: text)
    }

    public var bytes: [UInt8]? { unsafe [UInt8](memory) }

    /// A UUID as two numbers.
    public var uuid: (high: UInt64, low: UInt64)? { unsafe uuidWords(memory) }

    public var timestampMicroseconds: Int64? {
        typeOID == SQLType.timestamp.oid ? integer.map { $0 &+ postgresEpochMicroseconds } : nil
    }

    public var timeOfDay: SQLTimeOfDay? { typeOID == timeTypeOID ? integer.map { .microseconds($0) } : nil }

    /// Returns the elements of an array of one dimension, in PostgreSQL's binary format: the number of dimensions,
    /// whether there are nulls, the type of the elements, the length and the lower bound; then each element's length,
    /// -1 for null, and its bytes. Returns nil for anything else.
    fileprivate func elements<Element: SQLDecodable>() -> [Element]? {
        var position = 0
        func nextInteger() -> Int? {
            guard unsafe memory.count - position >= 4 else { return nil }
            defer { position += 4 }
            return Int(unsafe Int32(bigEndian: memory.loadUnaligned(fromByteOffset: position, as: Int32.self)))
        }
        guard let dimensions = nextInteger(), nextInteger() != nil,
            let elementType = nextInteger().flatMap(Oid.init(exactly:))
        else { return nil }
        if dimensions == 0 { return [] }
        guard dimensions == 1, let count = nextInteger(), nextInteger() != nil else { return nil }
        var elements: [Element] = []
        while elements.count < count {
            guard let length = nextInteger(), unsafe length <= memory.count - position else { return nil }
            let cell: Cell? =
                length < 0 ? nil : unsafe Cell(.init(rebasing: memory[position..<position + length]), elementType)
            guard let element = Element(cell: cell) else { return nil }
            elements.append(element)
            position += Swift.max(length, 0)
        }
        return elements
    }
}

/// The OID of `time` in `pg_type`.
private let timeTypeOID: Oid = 1083

private func uuidWords(_ bytes: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64)? {
    guard bytes.count == 16 else { return nil }
    return (
        unsafe UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        unsafe UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    )
}

private func bigEndianInteger(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    switch bytes.count {
    case 8: unsafe Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: unsafe Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: unsafe Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    default: nil
    }
}
