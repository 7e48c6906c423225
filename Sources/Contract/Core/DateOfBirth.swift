import Domain

/// A date of birth, as `YYYY-MM-DD`. Of a date-time, which both public clients send, the date counts as it is written: in
/// its own zone, not in UTC.
public struct DateOfBirth: Hashable, Sendable, WireText {
    public let date: CivilDate

    public init(_ date: CivilDate) { self.date = date }

    public init(wireText text: String) throws(InvalidInput) {
        guard let date = CivilDate(datePartOf: text), text.utf8.count == 10 || Timestamp(rfc3339: text) != nil else {
            throw InvalidInput("must be a date such as 2014-05-06")
        }
        guard date.year >= Self.earliestYear else { throw InvalidInput("must not be before \(Self.earliestYear)") }
        self.date = date
    }

    /// Nobody who is alive was born earlier.
    private static let earliestYear = 1900

    public var wireText: String { date.description }

    /// The date, unless it lies in the future wherever on earth the person is.
    /// - Throws: 422.
    public func past(at now: Timestamp) throws(APIError) -> CivilDate {
        let latest = UniversalTime().local(now + .hours(14)).date
        guard date <= latest else { throw APIError.birthIsInFuture }
        return date
    }
}
