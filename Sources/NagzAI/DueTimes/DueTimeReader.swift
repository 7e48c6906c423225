import Domain

/// The result of reading a due time from a text.
public struct DueTimeReading: Hashable, Sendable {
    /// The due time, which is after now; nil if the text names no time, or if there are `unclearPhrases`.
    public var dueAt: Timestamp?
    /// The phrases about a time that were not understood, as the text has them, or the whole text: see
    /// `DueTimeReader`. Each is cut to 200 Characters.
    public var unclearPhrases: [String]
}

/// Reads a due time from words, relative to a moment in a person's zone.
///
/// If a phrase is unknown or ambiguous, or names another day or time than an earlier phrase, there is no due time, and
/// the phrase is among the `unclearPhrases`. If the phrases do not fit together in another way, or the time is past or
/// more than two years ahead, the whole text is the only unclear phrase.
///
/// Days are `today`, `tomorrow`, `the day after tomorrow`, weekdays (the next one after today), `1 December`,
/// `December 1st, 2027`, `2026-12-01`, `in 3 days`, `a week from Friday`; times are `at 5`, `7pm`, `17:00`, `17.00`,
/// `half past 8`, `quarter to 9`, `5 o'clock`, `noon`, `at midnight` (the coming one), `in the morning` and `in 20
/// minutes`. Hours from 1 to 7 without am, pm or a part of the day are after noon. A day without a time means 18:00,
/// tonight 20:00; after these times, `today` and `tonight` mean 20:00, 22:00 or 23:59, the first that is ahead. A time
/// without a day is the next one.
public struct DueTimeReader: Sendable {
    /// The maximum number of words of a text that are read; the rest is ignored.
    private static let maxWordCount = 400
    /// The due time of a day without a time: 18:00.
    static let defaultTimeOfDay = TimeOfDay(hour: 18, minute: 0) ?? .midnight

    let now: Timestamp
    let zone: any ZoneRules

    public init(now: Timestamp, zone: any ZoneRules) {
        self.now = now
        self.zone = zone
    }

    /// The due time of a nag without one: tomorrow at 18:00.
    public var defaultDueTime: Timestamp { zone.moment(today.adding(days: 1), Self.defaultTimeOfDay) }

    var today: CivilDate { zone.local(now).date }

    /// Returns the due time that a text names.
    public func read(_ text: String) -> DueTimeReading {
        let spokenWords = SpokenWord.split(text, limit: Self.maxWordCount)
        var parts = DueTimeParts()
        var index = 0
        while index < spokenWords.count {
            let rest = spokenWords[index...]
            guard let phrase = phrase(in: rest) else {
                index += 1
                continue
            }
            if !parts.addIfConsistent(phrase.meaning) {
                parts.unclearPhrases.append(SpokenWord.excerpt(of: rest.prefix(phrase.wordCount)))
            }
            index += phrase.wordCount
        }
        guard parts.unclearPhrases.isEmpty, parts.hasAnyPart else {
            return DueTimeReading(dueAt: nil, unclearPhrases: parts.unclearPhrases)
        }
        guard let due = moment(of: parts), DueTimeLimit.fault(of: due, now: now) == nil else {
            return DueTimeReading(dueAt: nil, unclearPhrases: [SpokenWord.excerpt(of: spokenWords[...])])
        }
        return DueTimeReading(dueAt: due, unclearPhrases: [])
    }

    /// Returns the moment of a local time; nil if the form is wrong, or the moment is not after now or more than two
    /// years ahead.
    /// - Parameter local: `YYYY-MM-DDTHH:MM` by the clock of the zone.
    public func dueAt(local: String) -> Timestamp? {
        let parts = local.split(separator: "T", omittingEmptySubsequences: false)
        guard parts.count == 2, let date = CivilDate(isoDate: String(parts[0])), let time = TimeOfDay(parts[1]) else {
            return nil
        }
        let due = zone.moment(date, time)
        return DueTimeLimit.fault(of: due, now: now) == nil ? due : nil
    }

    // MARK: The moment

    /// Returns the moment that the parts name; nil if they are ambiguous or contradict each other, or if the default
    /// times of a day have passed. A moment with a named time may have passed too, so the caller checks it.
    private func moment(of parts: DueTimeParts) -> Timestamp? {
        if let minutes = parts.minutesAhead {
            guard parts.day == nil, parts.time == nil else { return nil }
            let due = now + .minutes(minutes)
            return Timestamp(seconds: floorDivide(due.seconds + 59, 60) * 60)
        }
        switch parts.time {
        case .midnight?:
            // Midnight of another day is ambiguous: it may begin or end the day.
            guard parts.day == nil || parts.day == today else { return nil }
            return zone.moment(today.adding(days: 1), .midnight)
        case .clock(let spoken)?:
            guard let time = spoken.time(in: parts.partOfDay) else { return nil }
            if let day = parts.day { return zone.moment(day, time) }
            let due = zone.moment(today, time)
            return due > now ? due : zone.moment(today.adding(days: 1), time)
        case nil:
            let defaultTimes = parts.partOfDay?.defaultTimes ?? [Self.defaultTimeOfDay]
            guard let day = parts.day else {
                return defaultTimes.first.flatMap { time in
                    [0, 1].lazy.map { zone.moment(today.adding(days: $0), time) }.first { $0 > now }
                }
            }
            // “Today” without a time stays today, even late in the evening.
            let mayUseLateTimes = day == today && (parts.partOfDay == nil || parts.partOfDay == .night)
            let times = mayUseLateTimes ? defaultTimes + PartOfDay.lateTimes : defaultTimes
            return times.lazy.map { zone.moment(day, $0) }.first { $0 > now }
        }
    }
}

/// The parts of a due time that the phrases have named so far.
private struct DueTimeParts {
    var day: CivilDate?
    var time: SpokenTime?
    var partOfDay: PartOfDay?
    var minutesAhead: Int64?
    var unclearPhrases: [String] = []
    /// The weekday that was named. A date on this weekday may replace `day`, once.
    private var weekday: Weekday?

    var hasAnyPart: Bool { day != nil || time != nil || partOfDay != nil || minutesAhead != nil }

    /// Adds the meaning of a phrase. Returns false if the meaning is unknown or contradicts an earlier phrase.
    mutating func addIfConsistent(_ meaning: DuePhrase.Meaning) -> Bool {
        switch meaning {
        case .unknown: return false
        case .weekday(let named, let date):
            if let day { return day.weekday == named }
            (day, weekday) = (date, named)
            return true
        case .day(let date):
            if let weekday, day != date, date.weekday == weekday {
                (day, self.weekday) = (date, nil)
                return true
            }
            return Self.assign(date, to: &day)
        case .time(let time): return Self.assign(time, to: &self.time)
        case .partOfDay(let part): return Self.assign(part, to: &partOfDay)
        case .tonight(let date): return Self.assign(date, to: &day) && Self.assign(.night, to: &partOfDay)
        case .dayAndPart(let date, let part): return Self.assign(date, to: &day) && Self.assign(part, to: &partOfDay)
        case .minutesAhead(let count): return Self.assign(count, to: &minutesAhead)
        }
    }

    /// Assigns a value to a part that is nil. Returns false if the part has another value already.
    private static func assign<Value: Equatable>(_ value: Value, to part: inout Value?) -> Bool {
        if let part { return part == value }
        part = value
        return true
    }
}
