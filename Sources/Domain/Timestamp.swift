/// A moment in time: microseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// Users' actions have times in milliseconds (`flooredToMillisecond`), the precision that clients see, so that phones
/// and the server compute with the same numbers. The times of a family's ledger have microseconds.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Microseconds since the epoch; negative before it.
    public let microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }
    public init(seconds: Int64) { microseconds = seconds * 1_000_000 }

    public static let epoch = Timestamp(microseconds: 0)
    /// The last second of the year 9999, the latest that RFC 3339 can express.
    public static let lastSecond = Timestamp(seconds: 253_402_300_799)

    public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

    /// Whole seconds since the epoch, rounded down.
    public var seconds: Int64 { floorDivide(microseconds, 1_000_000) }

    public var flooredToMillisecond: Timestamp {
        Timestamp(microseconds: floorDivide(microseconds, 1_000) * 1_000)
    }

    public var flooredToSecond: Timestamp { Timestamp(microseconds: seconds * 1_000_000) }

    public static func + (moment: Timestamp, span: Span) -> Timestamp {
        Timestamp(microseconds: moment.microseconds &+ span.microseconds)
    }

    public static func - (moment: Timestamp, span: Span) -> Timestamp {
        Timestamp(microseconds: moment.microseconds &- span.microseconds)
    }

    public static func - (left: Timestamp, right: Timestamp) -> Span {
        Span(microseconds: left.microseconds &- right.microseconds)
    }

    /// A duration in microseconds.
    public struct Span: Hashable, Comparable, Sendable {
        public let microseconds: Int64
        public init(microseconds: Int64) { self.microseconds = microseconds }

        public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

        public static func milliseconds(_ count: Int64) -> Span { Span(microseconds: count * 1_000) }
        public static func seconds(_ count: Int64) -> Span { Span(microseconds: count * 1_000_000) }
        public static func minutes(_ count: Int64) -> Span { .seconds(count * 60) }
        public static func hours(_ count: Int64) -> Span { .seconds(count * 3_600) }
        public static func days(_ count: Int64) -> Span { .seconds(count * 86_400) }
    }
}

/// Returns the quotient rounded towards minus infinity, so that moments before 1970 have the right day.
/// - Precondition: the divisor is positive.
public func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
}
