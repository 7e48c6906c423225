import Domain

/// The offsets of a zone after the last change that its file lists: one permanent offset, or two that alternate every
/// year. A file contains it in the form of the POSIX variable `TZ`, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
struct RecurringClockChange: Sendable {
    /// The range of accepted offsets from UTC, in seconds: less than 26 hours in both directions. RFC 9636 expects more
    /// than -25 and less than 26 hours.
    static let offsetRange = -93_599...93_599

    /// The offset from UTC in standard time, in seconds.
    private let standardOffset: Int
    /// The summer time; nil if the standard offset is permanent.
    private let summer: SummerTime?

    fileprivate struct SummerTime {
        /// The offset from UTC, in seconds.
        let offset: Int
        let start: DayOfYear
        let end: DayOfYear
        /// The start, in seconds after midnight of standard time.
        let startTime: Int
        /// The end, in seconds after midnight of summer time.
        let endTime: Int
    }

    /// A day that a rule names in each year.
    fileprivate enum DayOfYear {
        /// The day 1…365 of a year whose 29 February is not counted (`J60` is always 1 March).
        case withoutLeapDay(Int)
        /// The day that is so many days after 1 January, 0…365; 29 February counts.
        case afterNewYear(Int)
        /// The first to fourth weekday of a month, or with 5 the last; weekday 0 is Sunday.
        case weekday(month: Int, week: Int, weekday: Int)
    }

    /// Returns the offset from UTC.
    /// - Parameter seconds: the seconds since the epoch.
    func secondsFromUTC(at seconds: Int64) -> Int {
        guard let summer else { return standardOffset }
        let year = CivilDate(daysSinceEpoch: floorDivide(seconds + Int64(standardOffset), 86_400)).year
        let start = summer.start.daysSinceEpoch(in: year) * 86_400 + Int64(summer.startTime - standardOffset)
        let end = summer.end.daysSinceEpoch(in: year) * 86_400 + Int64(summer.endTime - summer.offset)
        // In the southern hemisphere the year begins and ends in summer time.
        let isSummer = start < end ? start <= seconds && seconds < end : !(end <= seconds && seconds < start)
        return isSummer ? summer.offset : standardOffset
    }
}

extension RecurringClockChange.DayOfYear {
    func daysSinceEpoch(in year: Int) -> Int64 {
        switch self {
        case .withoutLeapDay(let day):
            let leapDay = day >= 60 && CivilDate.daysInMonth(year: year, month: 2) == 29 ? 1 : 0
            return Self.firstDay(ofMonth: 1, in: year) + Int64(day - 1 + leapDay)
        case .afterNewYear(let days): return Self.firstDay(ofMonth: 1, in: year) + Int64(days)
        case .weekday(let month, let week, let weekday):
            let firstDay = Self.firstDay(ofMonth: month, in: year)
            // 1970-01-01 was a Thursday.
            let firstWeekday = Int((firstDay + 4) - floorDivide(firstDay + 4, 7) * 7)
            var day = (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
            if day >= CivilDate.daysInMonth(year: year, month: month) { day -= 7 }
            return firstDay + Int64(day)
        }
    }

    /// Returns the first day of a month, in days since the epoch.
    private static func firstDay(ofMonth month: Int, in year: Int) -> Int64 {
        // Years outside the range of `CivilDate` are treated as its first or last year.
        CivilDate(year: min(max(year, 1), 9_999), month: month, day: 1)?.daysSinceEpoch ?? 0
    }
}

// MARK: Reading

extension RecurringClockChange {
    /// Parses a rule; nil for any other text.
    init?(_ text: String) {
        var reader = Reader(text)
        guard reader.skipName(), let standardBehindUTC = reader.readTimeBehindUTC() else { return nil }
        standardOffset = -standardBehindUTC
        guard !reader.isAtEnd else {
            summer = nil
            return
        }
        guard reader.skipName() else { return nil }
        var summerOffset = standardOffset + 3_600
        if !reader.isNext(",") {
            guard let summerBehindUTC = reader.readTimeBehindUTC() else { return nil }
            summerOffset = -summerBehindUTC
        }
        guard reader.skip(","), let start = reader.readDay(), let startTime = reader.readTime(), reader.skip(","),
            let end = reader.readDay(), let endTime = reader.readTime(), reader.isAtEnd,
            Self.offsetRange.contains(standardOffset), Self.offsetRange.contains(summerOffset)
        else { return nil }
        summer = SummerTime(offset: summerOffset, start: start, end: end, startTime: startTime, endTime: endTime)
    }

    private struct Reader {
        private var rest: Substring.UTF8View

        init(_ text: String) { rest = text[...].utf8 }

        var isAtEnd: Bool { rest.isEmpty }

        func isNext(_ character: Unicode.Scalar) -> Bool { rest.first == UInt8(ascii: character) }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard isNext(character) else { return false }
            rest.removeFirst()
            return true
        }

        /// Skips the abbreviation of a zone, of letters only or in angle brackets. Returns false if there is none.
        mutating func skipName() -> Bool {
            let isQuoted = skip("<")
            let name = rest.prefix { isQuoted ? $0 != UInt8(ascii: ">") : isLetter($0) }
            rest = rest.dropFirst(name.count)
            return name.count >= 3 && (!isQuoted || skip(">"))
        }

        /// Reads the time behind UTC, in seconds.
        mutating func readTimeBehindUTC() -> Int? { readDuration(maxHours: 24) }

        /// Reads the time of a change after a slash, in seconds after midnight; without a slash it is two o'clock.
        mutating func readTime() -> Int? { skip("/") ? readDuration(maxHours: 167) : 7_200 }

        mutating func readDay() -> DayOfYear? {
            if skip("M") {
                guard let month = readNumber(1...12), skip("."), let week = readNumber(1...5), skip("."),
                    let weekday = readNumber(0...6)
                else { return nil }
                return .weekday(month: month, week: week, weekday: weekday)
            }
            if skip("J") { return readNumber(1...365).map { .withoutLeapDay($0) } }
            return readNumber(0...365).map { .afterNewYear($0) }
        }

        /// Reads `[±]h[:m[:s]]` as seconds.
        private mutating func readDuration(maxHours: Int) -> Int? {
            let sign = skip("-") ? -1 : 1
            if sign == 1 { _ = skip("+") }
            guard var seconds = readNumber(0...maxHours).map({ $0 * 3_600 }) else { return nil }
            if skip(":") {
                guard let minutes = readNumber(0...59) else { return nil }
                seconds += minutes * 60
                if skip(":") {
                    guard let secondsPart = readNumber(0...59) else { return nil }
                    seconds += secondsPart
                }
            }
            return sign * seconds
        }

        private mutating func readNumber(_ range: ClosedRange<Int>) -> Int? {
            let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            guard (1...3).contains(digits.count) else { return nil }
            rest = rest.dropFirst(digits.count)
            let number = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            return range.contains(number) ? number : nil
        }

        private func isLetter(_ byte: UInt8) -> Bool {
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
        }
    }
}
