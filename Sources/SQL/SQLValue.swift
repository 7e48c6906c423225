/// A parameter's value, in terms that PostgreSQL and SQLite understand.
public enum SQLValue: Hashable, Sendable {
    case null(SQLType)
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case text(String)
    case bytes([UInt8])
    case uuid(high: UInt64, low: UInt64)
    /// A moment, counted from 1970-01-01T00:00:00Z.
    case timestamp(microseconds: Int64)
    /// A JSON document, as text.
    case json(String)
    /// The type of the elements, which is a scalar type, and the elements.
    case array(SQLType, [SQLValue])

    public var type: SQLType {
        switch self {
        case .null(let type): type
        case .boolean: .boolean
        case .integer: .integer
        case .double: .double
        case .text: .text
        case .bytes: .bytes
        case .uuid: .uuid
        case .timestamp: .timestamp
        case .json: .json
        case .array(let element, _): element.arrayType ?? element
        }
    }
}

/// The types a parameter can have.
public enum SQLType: UInt8, Sendable {
    case boolean = 1
    case integer, double, text, bytes, uuid, timestamp, json
    /// Arrays of the scalar types, in the same order.
    case booleans, integers, doubles, texts, byteStrings, uuids, timestamps, jsons

    /// The type of arrays of this scalar type; nil for an array type.
    public var arrayType: SQLType? { rawValue <= 8 ? SQLType(rawValue: rawValue + 8) : nil }
}

/// A Swift value that can be a parameter.
public protocol SQLBindable {
    static var sqlType: SQLType { get }
    var sqlValue: SQLValue { get }
}

extension Optional: SQLBindable where Wrapped: SQLBindable {
    public static var sqlType: SQLType { Wrapped.sqlType }
    public var sqlValue: SQLValue { self?.sqlValue ?? .null(Wrapped.sqlType) }
}

extension Bool: SQLBindable {
    public static var sqlType: SQLType { .boolean }
    public var sqlValue: SQLValue { .boolean(self) }
}

extension Int: SQLBindable {
    public static var sqlType: SQLType { .integer }
    public var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension Int64: SQLBindable {
    public static var sqlType: SQLType { .integer }
    public var sqlValue: SQLValue { .integer(self) }
}

extension Double: SQLBindable {
    public static var sqlType: SQLType { .double }
    public var sqlValue: SQLValue { .double(self) }
}

extension String: SQLBindable {
    public static var sqlType: SQLType { .text }
    public var sqlValue: SQLValue { .text(self) }
}

extension [UInt8]: SQLBindable {
    public static var sqlType: SQLType { .bytes }
    public var sqlValue: SQLValue { .bytes(self) }
}

/// Binds an enumeration of strings as its raw value.
extension SQLBindable where Self: RawRepresentable, RawValue == String {
    @inlinable public static var sqlType: SQLType { .text }
    @inlinable public var sqlValue: SQLValue { .text(rawValue) }
}

/// Scalar values bound as one array parameter: `= ANY(\(SQLList(ids)))`.
public struct SQLList<Element: SQLBindable>: SQLBindable {
    public static var sqlType: SQLType { Element.sqlType.arrayType ?? Element.sqlType }
    public let sqlValue: SQLValue

    public init(_ values: [Element]) { sqlValue = .array(Element.sqlType, values.map(\.sqlValue)) }
}

/// A JSON document as text, bound as `jsonb`.
public struct SQLJSON: SQLBindable {
    public static var sqlType: SQLType { .json }
    public let text: String
    public var sqlValue: SQLValue { .json(text) }

    public init(_ text: String) { self.text = text }
}
