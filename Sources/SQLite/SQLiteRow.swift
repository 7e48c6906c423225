import SQL

/// One row of a running statement, valid while its reader runs.
public struct SQLiteRow {
    let statement: PreparedStatement

    /// The value of the column with that name.
    /// - Throws: `unexpectedShape` if there is no such column, or it holds no value of this type.
    public subscript<Value: SQLDecodable>(name: String) -> Value {
        get throws(SQLiteError) {
            guard let column = statement.columnNames.firstIndex(of: name) else {
                throw .unexpectedShape("no column \(name)")
            }
            let cell = statement.cell(column)
            guard let value = Value(cell: cell == .null ? nil : cell) else {
                throw .unexpectedShape("column \(name) is not a \(Value.self)")
            }
            return value
        }
    }

    /// Returns the integer in a column by its index; 0 if it is null or not a number.
    public func integerOrZero(_ column: Int) -> Int64 { statement.integerOrZero(column) }
}

/// A cell's value in SQLite's own terms.
public enum SQLiteCell: Hashable, Sendable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    case bytes([UInt8])
}

extension SQLiteCell: SQLCell {
    /// The boolean for the integer 0 or 1.
    public var boolean: Bool? {
        switch self {
        case .integer(0): false
        case .integer(1): true
        default: nil
        }
    }

    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The floating-point number, or an integer as one.
    public var double: Double? {
        switch self {
        case .double(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    public var text: String? { if case .text(let value) = self { value } else { nil } }

    public var bytes: [UInt8]? { if case .bytes(let value) = self { value } else { nil } }

    /// The UUID of sixteen bytes, most significant first.
    public var uuid: (high: UInt64, low: UInt64)? {
        guard case .bytes(let bytes) = self, bytes.count == 16 else { return nil }
        func word(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        return (word(0..<8), word(8..<16))
    }

    public var timestampMicroseconds: Int64? { integer }

    public var timeOfDay: SQLTimeOfDay? { text.map { .text($0) } }
}
