import Domain

/// The due time in a text.
public struct DueTimeReading: Hashable, Sendable {
    /// A moment after now; nil where the text names no time, or not all that it says of one is understood.
    public var dueAt: Timestamp?
    /// The words about a time that were not understood, as the text has them.
    public var misread: [String]
}

/// Reads a due time from words, as of a moment in a person's zone.
///
/// A phrase is understood as a whole or not at all: what is left over, ambiguous, past or two years ahead is `misread`,
/// and then there is no due time. Days are `today`, `tomorrow`, `the day after tomorrow`, weekdays (the next one after
/// today), `1 December`, `December 1st, 2027`, `2026-12-01`, `in 3 days`, `a week from Friday`; times are `at 5`, `7pm`,
/// `17:00`, `17.00`, `half past 8`, `quarter to 9`, `5 o'clock`, `noon`, `at midnight` (the coming one), `in the morning`
/// and `in 20 minutes`. Hours from 1 to 7 without am or pm are after noon. A day without a time means 18:00, tonight
/// 20:00. A time without a day is the next one.
public struct DueTimeReader: Sendable {
    /// Words of a text that are read.
    private static let wordLimit = 400
    static let evening = TimeOfDay(hour: 18, minute: 0) ?? .midnight

    let now: Timestamp
    let zone: any ZoneRules

    public init(now: Timestamp, zone: any ZoneRules) {
        self.now = now
        self.zone = zone
    }

    /// Tomorrow at 18:00.
    public var usual: Timestamp { zone.moment(today.adding(days: 1), Self.evening) }

    var today: CivilDate { zone.local(now).date }

    /// Reads what a text says of a time.
    public func read(_ text: String) -> DueTimeReading {
        let said = SpokenWord.all(in: text, limit: Self.wordLimit)
        var found = FoundTime()
        var index = 0
        while index < said.count {
            let rest = said[index...]
            guard let phrase = phrase(in: rest) else {
                index += 1
                continue
            }
            if !found.take(phrase.meaning) { found.misread.append(SpokenWord.text(of: rest.prefix(phrase.length))) }
            index += phrase.length
        }
        guard found.misread.isEmpty, found.saysAnything else {
            return DueTimeReading(dueAt: nil, misread: found.misread)
        }
        guard let due = moment(of: found), DueTimeLimit.fault(of: due, now: now) == nil else {
            return DueTimeReading(dueAt: nil, misread: [SpokenWord.text(of: said[...])])
        }
        return DueTimeReading(dueAt: due, misread: [])
    }

    /// A moment after now, at most two years ahead.
    /// - Parameter local: `YYYY-MM-DDTHH:MM` by the clock of the zone; nil is the answer to any other form.
    public func dueAt(local: String) -> Timestamp? {
        let parts = local.split(separator: "T", omittingEmptySubsequences: false)
        guard parts.count == 2, let date = CivilDate(isoDate: String(parts[0])), let time = TimeOfDay(parts[1]) else {
            return nil
        }
        let due = zone.moment(date, time)
        return DueTimeLimit.fault(of: due, now: now) == nil ? due : nil
    }

    // MARK: The moment

    private func moment(of found: FoundTime) -> Timestamp? {
        if let minutes = found.minutesAhead {
            guard found.day == nil, found.time == nil else { return nil }
            let due = now + .minutes(minutes)
            return Timestamp(seconds: floorDivide(due.seconds + 59, 60) * 60)
        }
        switch found.time {
        case .midnight?:
            // Of another day than today it may be the first or the last moment.
            guard found.day == nil || found.day == today else { return nil }
            return zone.moment(today.adding(days: 1), .midnight)
        case .clock(let spoken)?:
            guard let time = spoken.time(in: found.part) else { return nil }
            if let day = found.day { return zone.moment(day, time) }
            let due = zone.moment(today, time)
            return due > now ? due : zone.moment(today.adding(days: 1), time)
        case nil:
            let usual = found.part?.usual ?? [Self.evening]
            guard let day = found.day else {
                return usual.first.flatMap { time in
                    [0, 1].lazy.map { zone.moment(today.adding(days: $0), time) }.first { $0 > now }
                }
            }
            // Today without a time is still today late in the evening.
            let times = day == today && (found.part == nil || found.part == .night) ? usual + PartOfDay.late : usual
            return times.lazy.map { zone.moment(day, $0) }.first { $0 > now }
        }
    }
}

/// The parts of a time that phrases have named so far.
private struct FoundTime {
    var day: CivilDate?
    var time: SpokenTime?
    var part: PartOfDay?
    var minutesAhead: Int64?
    var misread: [String] = []
    /// Whether the day was a weekday, which a date may go with.
    private var weekday: Weekday?

    var saysAnything: Bool { day != nil || time != nil || part != nil || minutesAhead != nil }

    /// - Returns: whether the meaning is understood and consistent with the phrases before.
    mutating func take(_ meaning: DuePhrase.Meaning) -> Bool {
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
            return Self.set(&day, date)
        case .time(let said): return Self.set(&time, said)
        case .part(let said): return Self.set(&part, said)
        case .tonight(let date): return Self.set(&day, date) && Self.set(&part, .night)
        case .partOf(let date, let said): return Self.set(&day, date) && Self.set(&part, said)
        case .minutes(let count): return Self.set(&minutesAhead, count)
        }
    }

    private static func set<Value: Equatable>(_ place: inout Value?, _ value: Value) -> Bool {
        if let present = place { return present == value }
        place = value
        return true
    }
}
