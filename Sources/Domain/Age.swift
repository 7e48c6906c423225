extension CivilDate {
    /// The age, in years, below which an account needs a guardian's consent.
    public static let ageOfOwnConsent = 13

    /// Parses the date in `2014-05-06T00:00:00Z` or `2014-05-06` and ignores the zone, because a birthday is a
    /// calendar date, not a moment.
    public init?(datePartOf text: some StringProtocol) {
        var reader = DigitReader(text)
        guard let year = reader.readNumber(4), reader.skip("-"), let month = reader.readNumber(2), reader.skip("-"),
            let day = reader.readNumber(2), reader.isAtEnd || reader.skip("T") || reader.skip("t") || reader.skip(" ")
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// Returns the age in full years of a person born on this day; 0 for a birth in the future. A person born on 29
    /// February becomes a year older on 1 March if the year has no 29 February.
    public func age(on day: CivilDate) -> Int {
        let hadBirthday = (day.month, day.day) >= (month, self.day)
        return max(0, day.year - year - (hadBirthday ? 0 : 1))
    }

    /// Returns whether a person born on this day is younger than `ageOfOwnConsent`.
    public func isUnder13(on day: CivilDate) -> Bool { age(on: day) < Self.ageOfOwnConsent }
}
