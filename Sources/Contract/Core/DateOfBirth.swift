import Domain

/// A date of birth, encoded as a date-time. Only the date part is used, because age does not depend on a zone.
public struct DateOfBirth: Hashable, Sendable, WireText {
    public let date: CivilDate

    public init(_ date: CivilDate) { self.date = date }

    public init(wireText text: String) throws(InvalidInput) {
        _ = try Timestamp(wireText: text)
        // A valid date-time begins with `YYYY-MM-DD`.
        let parts = text.utf8.prefix(10).split(separator: UInt8(ascii: "-")).map { part in
            part.reduce(0) { $0 * 10 + Int($1) - Int(UInt8(ascii: "0")) }
        }
        guard parts.count == 3, let date = CivilDate(year: parts[0], month: parts[1], day: parts[2]) else {
            throw InvalidInput("must be a date-time")
        }
        self.date = date
    }

    /// Midnight of the date in UTC.
    public var wireText: String { Timestamp(seconds: date.daysSinceEpoch * 86_400).rfc3339 }
}
