import Domain

/// A value that can be read out of a result.
public protocol PostgresDecodable {
    /// Nil when the cell (itself nil for a null) does not hold such a value.
    init?(postgres cell: Cell?)
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    @inlinable
    public init?(postgres cell: Cell?) {
        guard let cell else {
            self = .none
            return
        }
        guard let value = Wrapped(postgres: cell) else { return nil }
        self = .some(value)
    }
}

extension Bool: PostgresDecodable {
    public init?(postgres cell: Cell?) {
        guard let value = cell?.boolean else { return nil }
        self = value
    }
}

extension Int: PostgresDecodable {
    public init?(postgres cell: Cell?) {
        guard let value = cell?.integer else { return nil }
        self.init(exactly: value)
    }
}

extension Int64: PostgresDecodable {
    public init?(postgres cell: Cell?) {
        guard let value = cell?.integer else { return nil }
        self = value
    }
}

extension Double: PostgresDecodable {
    public init?(postgres cell: Cell?) {
        guard let cell, cell.type == 701, let value = cell.integer else { return nil }
        self.init(bitPattern: UInt64(bitPattern: value))
    }
}

extension String: PostgresDecodable {
    public init?(postgres cell: Cell?) {
        guard let value = cell?.text else { return nil }
        self = value
    }
}

extension [UInt8]: PostgresDecodable {
    public init?(postgres cell: Cell?) {
        guard let cell else { return nil }
        self = cell.array
    }
}

extension Identifier: PostgresDecodable {
    @inlinable
    public init?(postgres cell: Cell?) {
        guard let uuid = cell?.uuid else { return nil }
        self.init(high: uuid.high, low: uuid.low)
    }
}

extension Timestamp: PostgresDecodable {
    public init?(postgres cell: Cell?) {
        guard let cell, cell.type == 1184, let value = cell.integer else { return nil }
        self.init(microseconds: value &+ postgresEpoch)
    }
}

extension TimeOfDay: PostgresDecodable {
    /// A `time`: microseconds since midnight; 24:00 does not occur.
    public init?(postgres cell: Cell?) {
        guard let cell, cell.type == 1083, let value = cell.integer else { return nil }
        self.init(secondsSinceMidnight: Int(value / 1_000_000))
    }
}

extension RawRepresentable where RawValue == String {
    @inlinable
    public init?(postgres cell: Cell?) {
        guard let text = cell?.text else { return nil }
        self.init(rawValue: text)
    }
}

extension FamilyRole: PostgresDecodable {}
extension MembershipStatus: PostgresDecodable {}
extension RelationshipStatus: PostgresDecodable {}
extension BlockState: PostgresDecodable {}
extension NagCategory: PostgresDecodable {}
extension NagStatus: PostgresDecodable {}
extension DoneDefinition: PostgresDecodable {}
extension StrategyTemplate: PostgresDecodable {}
extension Recurrence: PostgresDecodable {}
extension ConsentType: PostgresDecodable {}
extension ExcuseCategory: PostgresDecodable {}
extension AITone: PostgresDecodable {}
extension BadgeType: PostgresDecodable {}
