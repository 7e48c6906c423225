import Domain

extension DueTimeReader {
    /// The months by their names and abbreviations, from 1.
    private static let months: [String: Int] = {
        let names = [
            "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
            "november", "december",
        ]
        var months: [String: Int] = [:]
        for (index, name) in names.enumerated() {
            months[name] = index + 1
            months[String(name.prefix(3))] = index + 1
        }
        months["sept"] = 9
        return months
    }()

    private static let prepositionsOfDates: Set<String> = ["on", "by", "until", "till", "due", "before"]

    /// Reads `1 December`, `the 1st of December`, `December 1st`, each with a year or without, and `on the 5th`.
    func readDate(_ words: ArraySlice<SpokenWord>) -> DuePhrase? {
        let start = Self.prepositionsOfDates.contains(words.word(0)) ? 1 : 0
        let hasArticle = words.word(start) == "the"
        let dateOffset = start + (hasArticle ? 1 : 0)
        if let day = SpokenNumber.day(words.word(dateOffset)) {
            let monthOffset = words.word(dateOffset + 1) == "of" ? dateOffset + 2 : dateOffset + 1
            if let month = Self.months[words.word(monthOffset)] {
                return datePhrase(day, month, words, monthOffset + 1)
            }
            // "the 5th" alone, at the end: not "the 5th floor".
            if hasArticle, start == 1, SpokenNumber.day(words.word(dateOffset), needsEnding: true) != nil,
                words.clauseEnds(after: dateOffset + 1) || words.word(dateOffset + 1) == "at"
            {
                return DuePhrase(nextDate(onDay: day).map { .day($0) } ?? .unknown, dateOffset + 1)
            }
            return nil
        }
        guard let month = Self.months[words.word(dateOffset)], let day = SpokenNumber.day(words.word(dateOffset + 1)),
            !Self.nonTimeUnits.contains(words.word(dateOffset + 2))
        else { return nil }
        return datePhrase(day, month, words, dateOffset + 2)
    }

    /// Returns the phrase of a day and month, with the year that may follow them.
    private func datePhrase(_ day: Int, _ month: Int, _ words: ArraySlice<SpokenWord>, _ length: Int) -> DuePhrase {
        if let year = SpokenNumber.readDigits(words.word(length)), (2000...2999).contains(year) {
            return DuePhrase(
                CivilDate(year: year, month: month, day: day).map { .day($0) } ?? .unknown, length + 1)
        }
        return DuePhrase(nextDate(day, of: month).map { .day($0) } ?? .unknown, length)
    }

    /// Returns the next date with that day and month, today or later; nil if this year and the next two have none.
    private func nextDate(_ day: Int, of month: Int) -> CivilDate? {
        (today.year...today.year + 2).lazy.compactMap { CivilDate(year: $0, month: month, day: day) }
            .first { $0 >= today }
    }

    /// Returns the next date with that day of the month, today or later.
    private func nextDate(onDay day: Int) -> CivilDate? {
        (0...2).lazy.compactMap { monthsAhead -> CivilDate? in
            let months = today.year * 12 + today.month - 1 + monthsAhead
            return CivilDate(year: months / 12, month: months % 12 + 1, day: day)
        }.first { $0 >= today }
    }

    /// Reads `2026-12-01`, `31.12.2026`, `31/12/2026`, `12/31/2026` and `31-12-2026`. With full stops, the day comes
    /// first; otherwise the meaning of a date whose day and month could be exchanged is unknown. It is also unknown for
    /// a year that does not have four digits, and for `by 1/2`. Two numbers in any other form are no date.
    func readNumericDate(_ words: ArraySlice<SpokenWord>) -> DuePhrase? {
        let hasPreposition = Self.prepositionsOfDates.contains(words.word(0))
        let word = words.word(hasPreposition ? 1 : 0)
        let length = hasPreposition ? 2 : 1
        if let date = CivilDate(isoDate: word) { return DuePhrase(.day(date), length) }
        for separator in ["/", ".", "-"] as [Character] {
            let parts = word.split(separator: separator, omittingEmptySubsequences: false)
            let numbers = parts.compactMap { SpokenNumber.readDigits($0) }
            guard numbers.count == parts.count, (2...3).contains(numbers.count) else { continue }
            if numbers.count == 2 { return hasPreposition && separator == "/" ? DuePhrase(.unknown, length) : nil }
            guard parts[2].utf8.count == 4 else { return DuePhrase(.unknown, length) }
            let (first, second, year) = (numbers[0], numbers[1], numbers[2])
            let readings = Set(
                [
                    CivilDate(year: year, month: second, day: first),
                    separator == "." ? nil : CivilDate(year: year, month: first, day: second),
                ]
                .compactMap(\.self))
            guard readings.count == 1, let date = readings.first else { return DuePhrase(.unknown, length) }
            return DuePhrase(.day(date), length)
        }
        return nil
    }
}

extension CivilDate {
    /// Creates a date from `YYYY-MM-DD`; nil for any other form, and for a date that does not exist.
    init?(isoDate text: String) {
        guard text.utf8.count == 10 else { return nil }
        self.init(datePartOf: text)
    }
}
