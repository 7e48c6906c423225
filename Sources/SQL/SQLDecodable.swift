/// A value of a result, as a database stores it. Each property is nil if the cell cannot be read as that type.
/// PostgreSQL's cells check the type for some of the properties only, and for others the length: a query MUST return
/// the types that its reader expects.
public protocol SQLCell {
    var boolean: Bool? { get }
    var integer: Int64? { get }
    var double: Double? { get }
    /// The text of a text value or of a JSON document.
    var text: String? { get }
    var bytes: [UInt8]? { get }
    /// The UUID, as two numbers.
    var uuid: (high: UInt64, low: UInt64)? { get }
    /// The moment, in microseconds since 1970-01-01T00:00:00Z.
    var timestampMicroseconds: Int64? { get }
    var timeOfDay: SQLTimeOfDay? { get }
}

/// A time of day, as a database stores it.
public enum SQLTimeOfDay {
    /// The microseconds since midnight.
    case microseconds(Int64)
    /// `HH:MM:SS`.
    case text(String)
}

/// A Swift value that can be read out of a result.
public protocol SQLDecodable {
    /// Reads a value from a cell, which is nil for SQL NULL. Returns nil if the cell holds no value of this type.
    init?(cell: (some SQLCell)?)
}

extension Optional: SQLDecodable where Wrapped: SQLDecodable {
    @inlinable
    public init?(cell: (some SQLCell)?) {
        guard let cell else {
            self = .none
            return
        }
        guard let value = Wrapped(cell: cell) else { return nil }
        self = .some(value)
    }
}

extension Bool: SQLDecodable {
    @inlinable
    public init?(cell: (some SQLCell)?) {
        guard let value = cell?.boolean else { return nil }
        self = value
    }
}

extension Int: SQLDecodable {
    @inlinable
    public init?(cell: (some SQLCell)?) {
        guard let value = cell?.integer else { return nil }
        self.init(exactly: value)
    }
}

extension Int64: SQLDecodable {
    @inlinable
    public init?(cell: (some SQLCell)?) {
        guard let value = cell?.integer else { return nil }
        self = value
    }
}

extension Double: SQLDecodable {
    @inlinable
    public init?(cell: (some SQLCell)?) {
        guard let value = cell?.double else { return nil }
        self = value
    }
}

extension String: SQLDecodable {
    @inlinable
    public init?(cell: (some SQLCell)?) {
        guard let value = cell?.text else { return nil }
        self = value
    }
}

extension [UInt8]: SQLDecodable {
    @inlinable
    public init?(cell: (some SQLCell)?) {
        guard let value = cell?.bytes else { return nil }
        self = value
    }
}

/// Reads an enumeration of strings from its raw value.
extension SQLDecodable where Self: RawRepresentable, RawValue == String {
    @inlinable
    public init?(cell: (some SQLCell)?) {
        guard let text = cell?.text else { return nil }
        self.init(rawValue: text)
    }
}
