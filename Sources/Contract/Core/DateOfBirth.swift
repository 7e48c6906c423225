import Domain

/// A date of birth, as `YYYY-MM-DD`. The public clients send a date-time: its date is taken as written, without a
/// conversion to UTC.
public struct DateOfBirth: Hashable, Sendable, WireText {
    public let date: CivilDate

    public init(_ date: CivilDate) { self.date = date }

    public init(wireText text: String) throws(InvalidInput) {
        guard let date = CivilDate(datePartOf: text), text.utf8.count == 10 || Timestamp(rfc3339: text) != nil else {
            throw .notDate
        }
        guard date.year >= Self.earliestYear else { throw .tooEarly(firstYear: Self.earliestYear) }
        self.date = date
    }

    /// The earliest year that is accepted.
    private static let earliestYear = 1900

    public var wireText: String { date.description }

    /// Returns the date if it is today or earlier in some time zone.
    /// - Throws: 422 if the date is in the future in every time zone.
    public func pastDate(at now: Timestamp) throws(APIError) -> CivilDate {
        let latestToday = UniversalTime().local(now + .hours(14)).date
        guard date <= latestToday else { throw APIError.birthIsInFuture }
        return date
    }
}
