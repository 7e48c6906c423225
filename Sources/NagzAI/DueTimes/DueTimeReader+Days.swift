import Domain

/// The meaning and the length of a phrase about a time.
struct DuePhrase {
    enum Meaning {
        /// The phrase is about a time, but its meaning is unknown or ambiguous.
        case unknown
        case day(CivilDate)
        /// A weekday, and the date that it means.
        case weekday(Weekday, CivilDate)
        case time(SpokenTime)
        case partOfDay(PartOfDay)
        case dayAndPart(CivilDate, PartOfDay)
        /// The night of a date, which is today's.
        case tonight(CivilDate)
        /// A number of minutes from now.
        case minutesAhead(Int64)
    }

    var meaning: Meaning
    /// The number of words of the phrase.
    var wordCount: Int

    init(_ meaning: Meaning, _ wordCount: Int) { (self.meaning, self.wordCount) = (meaning, wordCount) }
}

extension DueTimeReader {
    /// Returns the phrase that the words begin with; nil if they do not begin with one about a time.
    func phrase(in words: ArraySlice<SpokenWord>) -> DuePhrase? {
        readRepetition(words) ?? readVaguePhrase(words) ?? readOffset(words) ?? readRelativeDay(words)
            ?? readWeekday(words) ?? readDate(words) ?? readNumericDate(words) ?? readPartOfDay(words)
            ?? readTimeOfDay(words)
    }

    // MARK: Unknown and ambiguous phrases

    private static let timeUnits: Set<String> = [
        "minute", "minutes", "min", "mins", "hour", "hours", "day", "days", "week", "weeks", "month", "months", "year",
        "years",
    ]
    /// The words, other than weekdays and units of time, that make a repetition after `every` or `each`.
    private static let partNames: Set<String> = ["morning", "afternoon", "evening", "night", "weekend", "weekday"]

    /// Reads a repetition, whose meaning is unknown, because a drafted nag is due once.
    private func readRepetition(_ words: ArraySlice<SpokenWord>) -> DuePhrase? {
        let firstWord = words.word(0)
        if firstWord == "every" || firstWord == "each" {
            var length = 1
            if words.word(1) == "other" || words.word(1) == "second" || SpokenNumber.read(words.word(1), 2...99) != nil
            {
                length = 2
            }
            let unit = words.word(length)
            let isUnit =
                Self.timeUnits.contains(unit) || Self.partNames.contains(unit)
                || Self.weekday(named: unit, in: .any) != nil
            return isUnit ? DuePhrase(.unknown, length + 1) : nil
        }
        if Self.weekday(named: firstWord, in: .plural) != nil { return DuePhrase(.unknown, 1) }
        return ["daily", "weekly", "monthly", "hourly"].contains(firstWord) && words.clauseEnds(after: 1)
            ? DuePhrase(.unknown, 1) : nil
    }

    private static let vaguePhrases = [
        "end of the day", "end of day", "end of the week", "end of the month", "end of week", "end of month",
        "half a day", "yesterday", "the other day", "weekend",
    ]

    /// Reads a phrase that names no exact day or time.
    private func readVaguePhrase(_ words: ArraySlice<SpokenWord>) -> DuePhrase? {
        if let phrase = Self.vaguePhrases.first(where: words.begins(with:)) {
            return DuePhrase(.unknown, phrase.split(separator: " ").count)
        }
        let (first, second) = (words.word(0), words.word(1))
        switch first {
        case "next", "this", "last", "past", "coming", "following":
            let isNumber = SpokenNumber.read(second, 1...99) != nil || ["few", "couple"].contains(second)
            if isNumber, Self.timeUnits.contains(words.word(2)) { return DuePhrase(.unknown, 3) }
            if Self.timeUnits.contains(second) || second == "weekend" { return DuePhrase(.unknown, 2) }
            if (first == "last" || first == "past"), Self.weekday(named: second) != nil {
                return DuePhrase(.unknown, 2)
            }
        case "in", "within", "a", "few", "couple":
            // "in a few days", "in a couple of hours"
            let quantityIndex = words.prefix(5).firstIndex { ["few", "couple", "several"].contains($0.word) }
            let unitIndex = words.prefix(6).firstIndex { Self.timeUnits.contains($0.word) }
            if let quantityIndex, let unitIndex, quantityIndex < unitIndex, first == "in" || first == "within" {
                return DuePhrase(.unknown, unitIndex - words.startIndex + 1)
            }
        case "before", "after", "from", "since", "starting":
            if Self.weekday(named: second) != nil || ["today", "tomorrow", "tonight"].contains(second) {
                return DuePhrase(.unknown, 2)
            }
        default: break
        }
        return nil
    }

    // MARK: Offsets

    /// Reads `in 3 days`, `in half an hour`, `in 2 hours and 15 minutes`, `a week from Friday`, `2 hours from now`.
    /// The meaning of `in 1.5 hours`, `2 days ago` and `2 hours from Friday` is unknown.
    private func readOffset(_ words: ArraySlice<SpokenWord>) -> DuePhrase? {
        let startsWithIn = words.word(0) == "in" || words.word(0) == "within"
        guard let (span, length) = readTimeSpan(words.dropFirst(startsWithIn ? 1 : 0)) else {
            let isDecimal = words.word(1).utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
            return startsWithIn && isDecimal && Self.timeUnits.contains(words.word(2)) ? DuePhrase(.unknown, 3) : nil
        }
        let end = length + (startsWithIn ? 1 : 0)
        if startsWithIn { return DuePhrase(meaning(of: span, from: today), end) }
        let rest = words.dropFirst(end)
        switch rest.word(0) {
        case "ago", "late", "earlier": return DuePhrase(.unknown, end + 1)
        case "from":
            if rest.word(1) == "now" { return DuePhrase(meaning(of: span, from: today), end + 2) }
            guard let base = readRelativeDay(rest.dropFirst()) ?? readWeekday(rest.dropFirst()) else { return nil }
            switch base.meaning {
            case .day(let day), .weekday(_, let day):
                if case .minutes = span { return DuePhrase(.unknown, end + 1 + base.wordCount) }
                return DuePhrase(meaning(of: span, from: day), end + 1 + base.wordCount)
            default: return DuePhrase(.unknown, end + 1 + base.wordCount)
            }
        default: return nil
        }
    }

    private enum TimeSpan { case minutes(Int), days(Int), months(Int) }

    private func meaning(of span: TimeSpan, from day: CivilDate) -> DuePhrase.Meaning {
        switch span {
        case .minutes(let count): .minutesAhead(Int64(count))
        case .days(let count): .day(day.adding(days: Int64(count)))
        case .months(let count): day.adding(months: count).map { .day($0) } ?? .unknown
        }
    }

    /// Reads a span of time, such as `half an hour` or `3 days`, and returns it with its length in words.
    private func readTimeSpan(_ words: ArraySlice<SpokenWord>) -> (span: TimeSpan, length: Int)? {
        for half in ["half an hour", "half hour"] where words.begins(with: half) {
            return (.minutes(30), half.split(separator: " ").count)
        }
        guard let count = SpokenNumber.read(words.word(0), 1...1_000) else { return nil }
        switch words.word(1) {
        case "minute", "minutes", "min", "mins": return (.minutes(count), 2)
        case "hour", "hours":
            if words.dropFirst(2).begins(with: "and a half") { return (.minutes(count * 60 + 30), 5) }
            let minutesOffset = words.word(2) == "and" ? 3 : 2
            if let minutes = SpokenNumber.read(words.word(minutesOffset), 1...59),
                ["minute", "minutes", "min", "mins"].contains(words.word(minutesOffset + 1))
            {
                return (.minutes(count * 60 + minutes), minutesOffset + 2)
            }
            return (.minutes(count * 60), 2)
        case "day", "days": return (.days(count), 2)
        case "week", "weeks", "week's", "weeks'":
            return (.days(count * 7), words.word(2) == "time" ? 3 : 2)
        case "month", "months": return (.months(count), 2)
        default: return nil
        }
    }

    // MARK: Days

    private func readRelativeDay(_ words: ArraySlice<SpokenWord>) -> DuePhrase? {
        for phrase in ["the day after tomorrow", "day after tomorrow"] where words.begins(with: phrase) {
            return dayPhrase(today.adding(days: 2), words, phrase.split(separator: " ").count)
        }
        switch words.word(0) {
        case "today": return dayPhrase(today, words, 1)
        case "tomorrow": return dayPhrase(today.adding(days: 1), words, 1)
        case "tonight": return DuePhrase(.tonight(today), 1)
        default: return nil
        }
    }

    /// Returns the phrase of a day, with the part of the day that may follow it, as in `tomorrow morning`.
    private func dayPhrase(_ day: CivilDate, _ words: ArraySlice<SpokenWord>, _ length: Int) -> DuePhrase {
        guard let part = PartOfDay(rawValue: words.word(length)) else { return DuePhrase(.day(day), length) }
        return DuePhrase(.dayAndPart(day, part), length + 1)
    }

    /// The grammatical numbers in which a weekday is recognised.
    private enum GrammaticalNumber { case singular, plural, any }

    private static func weekday(named word: String, in number: GrammaticalNumber = .singular) -> Weekday? {
        let singular = word.hasSuffix("s") && word.hasSuffix("days") ? String(word.dropLast()) : word
        if number == .plural, singular == word || word.hasSuffix("'s") { return nil }
        if number == .singular, singular != word { return nil }
        return Weekday.allCases.first { $0.rawValue.lowercased() == singular }
    }

    private static let shortWeekdays: [String: Weekday] = [
        "mon": .monday, "tue": .tuesday, "tues": .tuesday, "wed": .wednesday, "thu": .thursday, "thur": .thursday,
        "thurs": .thursday, "fri": .friday, "sat": .saturday, "sun": .sunday,
    ]
    private static let prefixesOfDays: Set<String> = ["on", "by", "until", "till", "due", "this", "next", "coming"]

    /// The words that form a name with a weekday before them: "Sunday school" is no day.
    private static let nounsAfterDays: Set<String> = ["school", "roast", "paper", "mass", "club"]

    /// Reads a weekday as its next date after today; `this Friday` may also be today. The meaning of `next Friday` is
    /// unknown if there is still a Friday in this week, because some people mean that one and others the Friday after
    /// it. The meaning of `this Friday` after the Friday of this week, and of `Friday week`, is unknown too.
    private func readWeekday(_ words: ArraySlice<SpokenWord>) -> DuePhrase? {
        var length = 0
        while length < 3, Self.prefixesOfDays.contains(words.word(length)) || length > 0 && words.word(length) == "the"
        {
            length += 1
        }
        let name = words.word(length)
        // "Sat", "sun" and "wed" are also other words, so they need a preposition or a following "at".
        let allowsShortName = length > 0 || !["sat", "sun", "wed"].contains(name) || words.word(1) == "at"
        guard let weekday = Self.weekday(named: name) ?? (allowsShortName ? Self.shortWeekdays[name] : nil) else {
            return nil
        }
        let prefix = Set(words.prefix(length).map(\.word))
        length += 1
        if prefix.isEmpty, Self.nounsAfterDays.contains(words.word(length)) { return nil }
        if words.word(length) == "week" { return DuePhrase(.unknown, length + 1) }
        let daysAhead = weekday.daysAfterMonday - today.weekday.daysAfterMonday
        if prefix.contains("next"), daysAhead > 0 { return DuePhrase(.unknown, length) }
        if prefix.contains("this"), daysAhead < 0 { return DuePhrase(.unknown, length) }
        let isThisWeek = daysAhead > 0 || daysAhead == 0 && prefix.contains("this")
        let day = today.adding(days: Int64(isThisWeek ? daysAhead : daysAhead + 7))
        if let part = PartOfDay(rawValue: words.word(length)) { return DuePhrase(.dayAndPart(day, part), length + 1) }
        return DuePhrase(.weekday(weekday, day), length)
    }

    // MARK: Parts of the day

    /// Reads `this evening`, `in the morning` and `at night`.
    private func readPartOfDay(_ words: ArraySlice<SpokenWord>) -> DuePhrase? {
        if words.word(0) == "this", let part = PartOfDay(rawValue: words.word(1)) {
            return DuePhrase(.dayAndPart(today, part), 2)
        }
        if words.begins(with: "in the"), let part = PartOfDay(rawValue: words.word(2)), part != .night {
            return DuePhrase(.partOfDay(part), 3)
        }
        return words.begins(with: "at night") ? DuePhrase(.partOfDay(.night), 2) : nil
    }
}
