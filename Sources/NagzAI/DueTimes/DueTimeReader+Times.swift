import Domain

extension DueTimeReader {
    private static let prefixesOfTimes: Set<String> = [
        "at", "by", "until", "till", "before", "around", "about", "from", "@",
    ]
    /// The words that show that the number before them is an amount, not a time.
    static let nonTimeUnits: Set<String> = [
        "%", "percent", "€", "$", "£", "euro", "euros", "dollar", "dollars", "pound", "pounds", "cent", "cents", "kg",
        "g", "km", "m", "cm", "l", "ml", "litres", "liters", "miles", "times", "pages", "points",
    ]

    /// Reads a time with or without a preposition, such as `at 5`, `noon` and `by half past 8`. `5 to 6` means
    /// 5:55. The meaning of a range, such as `5pm to 6pm`, `from 5 to 6`, `between 5 and 6` or `after 5pm`, is unknown.
    func readTimeOfDay(_ words: ArraySlice<SpokenWord>) -> DuePhrase? {
        let preposition = Self.prefixesOfTimes.contains(words.word(0)) ? words.word(0) : nil
        let start = preposition == nil ? 0 : 1
        let rest = words.dropFirst(start)
        if preposition == nil, words.word(0) == "between" || words.word(0) == "after" {
            return readRange(words)
        }
        for (name, time) in [
            ("noon", SpokenTime.clock(.init(hour: 12, minute: 0, is24Hour: true))),
            ("midday", .clock(.init(hour: 12, minute: 0, is24Hour: true))), ("midnight", .midnight),
        ] where rest.word(0) == name {
            return DuePhrase(.time(time), start + 1)
        }
        if preposition != "from", let (time, length) = readMinutesPastOrTo(rest) {
            return DuePhrase(time.map { .time(.clock($0)) } ?? .unknown, start + length)
        }
        guard let (reading, length) = readClockTime(rest, after: preposition == "from" ? "at" : preposition) else {
            return nil
        }
        if ["-", "–", "to", "or", "till", "until"].contains(rest.word(length)),
            readClockTime(rest.dropFirst(length + 1), after: "at") != nil
        {
            return DuePhrase(.unknown, start + length + 2)
        }
        guard let reading, preposition != "from" else { return DuePhrase(.unknown, start + length) }
        return DuePhrase(.time(.clock(reading)), start + length)
    }

    /// Reads `between 5 and 6` and `after 5pm`, which name no due time.
    private func readRange(_ words: ArraySlice<SpokenWord>) -> DuePhrase? {
        let hasTwoEnds = words.word(0) == "between"
        guard let (_, length) = readClockTime(words.dropFirst(), after: hasTwoEnds ? "at" : nil) else { return nil }
        return DuePhrase(.unknown, 1 + length + (hasTwoEnds && words.word(1 + length) == "and" ? 2 : 0))
    }

    /// Reads `half past 8`, `quarter to nine`, `20 past 5 pm`, and returns the time with its length in words. The time
    /// is nil for `half 8` and `half to 8`, which are ambiguous.
    private func readMinutesPastOrTo(
        _ words: ArraySlice<SpokenWord>
    ) -> (time: SpokenTime.ClockTime?, length: Int)? {
        let start = words.word(0) == "a" && words.word(1) == "quarter" ? 1 : 0
        let minutes: Int
        switch words.word(start) {
        case "half": minutes = 30
        case "quarter": minutes = 15
        case let word:
            guard let number = SpokenNumber.read(word, 1...29) else { return nil }
            minutes = number
        }
        var length = start + 1
        if ["minutes", "mins"].contains(words.word(length)) { length += 1 }
        let direction = words.word(length)
        guard direction == "past" || direction == "to" else {
            let isHalfHour =
                minutes == 30 && SpokenNumber.read(words.word(length), 1...12) != nil && words.word(start) == "half"
            return isHalfHour && words.clauseEnds(after: length + 1) ? (nil, length + 1) : nil
        }
        guard let hour = SpokenNumber.read(words.word(length + 1), 1...12) else { return nil }
        if minutes == 30, direction == "to" { return (nil, length + 2) }
        let (half, halfLength) = Self.half(words.word(length + 2))
        length += 2 + halfLength
        if direction == "past" { return (SpokenTime.ClockTime(hour: hour, minute: minutes, half: half), length) }
        // A quarter to twelve at noon is in the morning, and a quarter to one in the afternoon.
        let previousHour = hour == 1 ? 12 : hour - 1
        let isTwelve = hour == 12
        let previousHalf: PartOfDay.Half? = half.map { isTwelve ? ($0 == .am ? .pm : .am) : $0 }
        return (SpokenTime.ClockTime(hour: previousHour, minute: 60 - minutes, half: previousHalf), length)
    }

    /// Returns the half of the day that a word names, and 1 as the number of words; nil and 0 for any other word.
    private static func half(_ word: String) -> (half: PartOfDay.Half?, length: Int) {
        switch word {
        case "am", "a.m": (.am, 1)
        case "pm", "p.m": (.pm, 1)
        default: (nil, 0)
        }
    }

    /// Reads a time in digits, or as a word with `at` or `by` before it, or with `pm` or `o'clock` after it. Returns it
    /// with its length in words. The reading is nil for words that look like a time but are not one. The result is nil
    /// for words that do not look like a time.
    private func readClockTime(
        _ words: ArraySlice<SpokenWord>, after preposition: String?
    ) -> (reading: SpokenTime.ClockTime?, length: Int)? {
        let word = words.word(0)
        var digits = word
        var (half, length) = Self.half(words.word(1))
        length += 1
        for suffix in ["a.m", "p.m", "am", "pm"] where half == nil && word.hasSuffix(suffix) && word != suffix {
            digits = String(word.dropLast(suffix.count))
            half = Self.half(suffix).half
        }
        let isOClock = ["o'clock", "oclock"].contains(words.word(1))
        if isOClock { length = 2 }
        let isMarkedAsTime = half != nil || isOClock
        if let hour = Self.hoursByWord[digits] {
            guard isMarkedAsTime || preposition == "at" || preposition == "by" && words.clauseEnds(after: 1) else {
                return nil
            }
            return (SpokenTime.ClockTime(hour: hour, minute: 0, half: half), length)
        }
        guard digits.first?.isASCII == true, digits.first?.isNumber == true else {
            return preposition == "at" && word.hasPrefix("+") ? (nil, length) : nil
        }
        if !isMarkedAsTime, Self.nonTimeUnits.contains(words.word(1)) { return nil }
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber || ":.h".contains($0) }) else {
            // "5-6pm"
            let isRange = digits.contains("-") || digits.contains("–")
            return isRange && (isMarkedAsTime || preposition == "at") ? (nil, length) : nil
        }
        if digits.hasSuffix("h") { digits = String(digits.dropLast()) + ":00" }
        let separator: Character? =
            digits.contains(":") ? ":" : digits.contains(".") ? "." : digits.contains("h") ? "h" : nil
        guard let separator else {
            return readHour(digits, half, isMarkedAsTime: isMarkedAsTime, after: preposition, words, length)
        }
        let parts = digits.split(separator: separator, omittingEmptySubsequences: false)
        let looksLikeTime =
            separator == ":" || separator == "h" || parts[0].utf8.count == 2 || isMarkedAsTime || preposition == "at"
        guard looksLikeTime, parts.count == 2 else {
            return preposition == "at" || separator == ":" ? (nil, length) : nil
        }
        guard let hour = SpokenNumber.readDigits(parts[0]), let minute = SpokenNumber.readDigits(parts[1]), hour <= 23,
            minute <= 59,
            parts[0].utf8.count <= 2, parts[1].utf8.count == 2, half == nil || (1...12).contains(hour)
        else { return separator == "." && preposition == nil && !isMarkedAsTime ? nil : (nil, length) }
        let is24Hour = parts[0].utf8.count == 2 && (parts[0].hasPrefix("0") || hour > 12)
        return (SpokenTime.ClockTime(hour: hour, minute: minute, half: half, is24Hour: is24Hour), length)
    }

    /// Reads an hour without minutes, as in "at 5". The reading is nil for a number that is no hour. The result is nil
    /// if the words around the number do not show that it is a time.
    private func readHour(
        _ digits: String, _ half: PartOfDay.Half?, isMarkedAsTime: Bool, after preposition: String?,
        _ words: ArraySlice<SpokenWord>, _ length: Int
    ) -> (reading: SpokenTime.ClockTime?, length: Int)? {
        // "by 5" is a time at the end of a clause; "by 5 euros" is none.
        let isTime =
            isMarkedAsTime || preposition == "at" || preposition == "@"
            || ["by", "until", "till"].contains(preposition) && words.clauseEnds(after: 1)
        guard isTime else { return nil }
        guard let hour = SpokenNumber.readDigits(digits), hour <= 23, digits.utf8.count <= 2,
            half == nil || (1...12).contains(hour)
        else { return (nil, length) }
        return (SpokenTime.ClockTime(hour: hour, minute: 0, half: half), length)
    }

    private static let hoursByWord: [String: Int] = [
        "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
        "eleven": 11, "twelve": 12,
    ]
}
