import Domain

/// One row of a running statement, valid while its reader runs.
public struct SQLiteRow {
    let statement: PreparedStatement

    /// The value of the column with that name.
    /// - Throws: `unexpectedShape` when there is no such column, or it does not hold such a value.
    public subscript<Value: SQLiteDecodable>(name: String) -> Value {
        get throws(SQLiteError) {
            guard let column = statement.columnNames.firstIndex(of: name) else {
                throw .unexpectedShape("no column \(name)")
            }
            guard let value = Value(sqlite: statement.cell(column)) else {
                throw .unexpectedShape("column \(name) is not a \(Value.self)")
            }
            return value
        }
    }

    /// A column by index: 0 when it is null or not a number.
    public func integer(_ column: Int) -> Int64 { statement.integer(column) }
}

/// A cell's value in SQLite's own terms.
public enum SQLiteCell: Hashable, Sendable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    case bytes([UInt8])
}

/// A value that can be read out of a cell.
public protocol SQLiteDecodable {
    /// Nil when the cell does not hold such a value.
    init?(sqlite cell: SQLiteCell)
}

extension Optional: SQLiteDecodable where Wrapped: SQLiteDecodable {
    public init?(sqlite cell: SQLiteCell) {
        if case .null = cell {
            self = .none
        } else {
            guard let value = Wrapped(sqlite: cell) else { return nil }
            self = .some(value)
        }
    }
}

extension Int64: SQLiteDecodable {
    public init?(sqlite cell: SQLiteCell) {
        guard case .integer(let value) = cell else { return nil }
        self = value
    }
}

extension Int: SQLiteDecodable {
    public init?(sqlite cell: SQLiteCell) {
        guard case .integer(let value) = cell else { return nil }
        self.init(exactly: value)
    }
}

extension Bool: SQLiteDecodable {
    public init?(sqlite cell: SQLiteCell) {
        guard case .integer(let value) = cell, value == 0 || value == 1 else { return nil }
        self = value == 1
    }
}

extension Double: SQLiteDecodable {
    public init?(sqlite cell: SQLiteCell) {
        switch cell {
        case .double(let value): self = value
        case .integer(let value): self = Double(value)
        default: return nil
        }
    }
}

extension String: SQLiteDecodable {
    public init?(sqlite cell: SQLiteCell) {
        guard case .text(let text) = cell else { return nil }
        self = text
    }
}

extension [UInt8]: SQLiteDecodable {
    public init?(sqlite cell: SQLiteCell) {
        guard case .bytes(let bytes) = cell else { return nil }
        self = bytes
    }
}

extension Timestamp: SQLiteDecodable {
    /// Microseconds since 1970.
    public init?(sqlite cell: SQLiteCell) {
        guard case .integer(let value) = cell else { return nil }
        self.init(microseconds: value)
    }
}

extension TimeOfDay: SQLiteDecodable {
    public init?(sqlite cell: SQLiteCell) {
        guard case .text(let text) = cell else { return nil }
        self.init(text)
    }
}

extension Identifier: SQLiteDecodable {
    /// Sixteen bytes, most significant first.
    public init?(sqlite cell: SQLiteCell) {
        guard case .bytes(let bytes) = cell, bytes.count == 16 else { return nil }
        func word(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(0..<8), low: word(8..<16))
    }
}

extension RawRepresentable where RawValue == String {
    public init?(sqlite cell: SQLiteCell) {
        guard case .text(let text) = cell else { return nil }
        self.init(rawValue: text)
    }
}

extension FamilyRole: SQLiteDecodable {}
extension MembershipStatus: SQLiteDecodable {}
extension NagCategory: SQLiteDecodable {}
extension NagStatus: SQLiteDecodable {}
extension ExcuseCategory: SQLiteDecodable {}
extension PushBackMode: SQLiteDecodable {}
extension PreferredTone: SQLiteDecodable {}
