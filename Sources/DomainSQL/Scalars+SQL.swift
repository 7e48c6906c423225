import Domain
import SQL

extension Timestamp: SQLBindable, SQLDecodable {
    @inlinable public static var sqlType: SQLType { .timestamp }
    @inlinable public var sqlValue: SQLValue { .timestamp(microseconds: microseconds) }

    @inlinable
    public init?(cell: (some SQLCell)?) {
        guard let microseconds = cell?.timestampMicroseconds else { return nil }
        self.init(microseconds: microseconds)
    }
}

extension TimeOfDay: SQLBindable, SQLDecodable {
    /// Bound as text: write `\(time)::time` for PostgreSQL.
    public static var sqlType: SQLType { .text }
    public var sqlValue: SQLValue { .text(description) }

    /// Reads the time without fractions of a second; nil for 24:00.
    public init?(cell: (some SQLCell)?) {
        switch cell?.timeOfDay {
        case .microseconds(let count): self.init(secondsSinceMidnight: Int(count / 1_000_000))
        case .text(let text): self.init(text)
        case nil: return nil
        }
    }
}

extension Identifier: SQLBindable, SQLDecodable {
    @inlinable public static var sqlType: SQLType { .uuid }
    @inlinable public var sqlValue: SQLValue { .uuid(high: high, low: low) }

    @inlinable
    public init?(cell: (some SQLCell)?) {
        guard let uuid = cell?.uuid else { return nil }
        self.init(high: uuid.high, low: uuid.low)
    }
}
