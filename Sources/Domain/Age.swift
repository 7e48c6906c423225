extension CivilDate {
    /// The age below which an account waits for a guardian's consent.
    public static let ageOfOwnConsent = 13

    /// Reads the date part of `2014-05-06T00:00:00Z` or `2014-05-06` as written, without looking at the zone: a
    /// birthday belongs to a calendar, not to a moment.
    public init?(datePartOf text: some StringProtocol) {
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.isAtEnd || reader.skip("T") || reader.skip("t") || reader.skip(" ")
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// Full years of someone born on this day; 0 for a birth in the future. Born on 29 February, one ages on 1 March
    /// in other years.
    public func age(on day: CivilDate) -> Int {
        let hadBirthday = (day.month, day.day) >= (month, self.day)
        return max(0, day.year - year - (hadBirthday ? 0 : 1))
    }

    public func isUnder13(on day: CivilDate) -> Bool { age(on: day) < Self.ageOfOwnConsent }
}
