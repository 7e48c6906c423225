import Domain

/// Reads a due time from words, as of a moment in a person's zone.
///
/// It knows `today`, `tonight`, `tomorrow`, the names of weekdays (the next one after today), a time of day (`at 5`,
/// `at 5:30`, `7pm`, `19:00`, `noon`), and `in 20 minutes`, `in an hour`, `in 3 days`. Hours from 1 to 7 without am or pm
/// are after noon. A day without a time means 18:00, tonight 20:00. A time that has passed today means tomorrow.
public struct DueTimeReader: Sendable {
    private static let evening = TimeOfDay(hour: 18, minute: 0) ?? .midnight
    private static let night = TimeOfDay(hour: 20, minute: 0) ?? .midnight
    private static let noon = TimeOfDay(hour: 12, minute: 0) ?? .midnight
    /// How far a text may count ahead, in its own unit.
    private static let counts = 1...1_000
    /// Words of a text that are read.
    private static let wordLimit = 400

    private let now: Timestamp
    private let zone: any ZoneRules

    public init(now: Timestamp, zone: any ZoneRules) {
        self.now = now
        self.zone = zone
    }

    /// Tomorrow at 18:00.
    public var usual: Timestamp { moment(days: 1, Self.evening) }

    /// A moment after now; nil where the text names no time, or one more than two years ahead.
    public func dueAt(in text: String) -> Timestamp? {
        let said = text.lowercased().split(whereSeparator: \.isWhitespace).prefix(Self.wordLimit).map {
            $0.trimmingPunctuation
        }
        var day: Int64?
        var time: TimeOfDay?
        let isTonight = said.contains("tonight")
        for (index, word) in said.enumerated() {
            let before = index > 0 ? said[index - 1] : ""
            let after = index + 1 < said.count ? said[index + 1] : ""
            if before == "in", let span = Self.span(word, after) {
                let due = later(by: span)
                return DueTimeLimit.isTooFar(due, now: now) ? nil : due
            }
            switch word {
            case "today", "tonight": day = day ?? 0
            case "tomorrow": day = day ?? 1
            case "noon": time = time ?? Self.noon
            default:
                if let weekday = Self.weekdays[word] { day = day ?? daysUntil(weekday) }
                time = time ?? Self.time(word, after, isAfterAt: before == "at", isTonight: isTonight)
            }
        }
        if day == nil, time == nil { return nil }
        let usualTime = isTonight ? Self.night : Self.evening
        let due = moment(days: day ?? 0, time ?? usualTime)
        return due > now ? due : moment(days: 1 + (day ?? 0), time ?? usualTime)
    }

    /// A moment after now, at most two years ahead.
    /// - Parameter local: `YYYY-MM-DDTHH:MM` by the clock of the zone; nil is the answer to any other form.
    public func dueAt(local: String) -> Timestamp? {
        let parts = local.split(separator: "T", omittingEmptySubsequences: false)
        let numbers = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, numbers.map(\.utf8.count) == [4, 2, 2], let time = TimeOfDay(parts[1]),
            let year = Self.whole(numbers[0], 1...9999), let month = Self.whole(numbers[1], 1...12),
            let day = Self.whole(numbers[2], 1...31), let date = CivilDate(year: year, month: month, day: day)
        else { return nil }
        let due = zone.moment(date, time)
        return DueTimeLimit.fault(of: due, now: now) == nil ? due : nil
    }

    // MARK: Days

    private func moment(days: Int64, _ time: TimeOfDay) -> Timestamp {
        zone.moment(CivilDate(daysSinceEpoch: zone.local(now).date.daysSinceEpoch + days), time)
    }

    /// 1…7.
    private func daysUntil(_ weekday: Weekday) -> Int64 {
        let ahead = weekday.daysAfterMonday - zone.local(now).date.weekday.daysAfterMonday
        return Int64(ahead > 0 ? ahead : ahead + 7)
    }

    private static let weekdays = Dictionary(
        Weekday.allCases.map { ($0.rawValue.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })

    // MARK: Times ahead

    private enum Ahead {
        case minutes(Int64), days(Int64)
    }

    private static func span(_ number: String, _ unit: String) -> Ahead? {
        let count: Int
        switch number {
        case "a", "an", "one": count = 1
        default:
            guard let read = whole(number, counts) else { return nil }
            count = read
        }
        switch unit {
        case "minute", "minutes", "min", "mins": return .minutes(Int64(count))
        case "hour", "hours": return .minutes(Int64(count) * 60)
        case "day", "days": return .days(Int64(count))
        case "week", "weeks": return .days(Int64(count) * 7)
        default: return nil
        }
    }

    private func later(by span: Ahead) -> Timestamp {
        switch span {
        case .minutes(let count):
            let due = now + .minutes(count)
            return Timestamp(seconds: floorDivide(due.seconds, 60) * 60 + (due.seconds % 60 == 0 ? 0 : 60))
        case .days(let count): return moment(days: count, Self.evening)
        }
    }

    // MARK: Times of day

    /// - Parameter isAfterAt: whether the word follows "at"; otherwise only what looks like a time is one.
    private static func time(_ word: String, _ after: String, isAfterAt: Bool, isTonight: Bool) -> TimeOfDay? {
        var (digits, half) = (word, halfOfDay(after))
        for suffix in ["a.m", "p.m", "am", "pm"] where half == nil && word.hasSuffix(suffix) {
            digits = String(word.dropLast(suffix.count))
            half = halfOfDay(suffix)
        }
        let parts = digits.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard (1...2).contains(parts.count), let hour = whole(parts[0], 0...23), parts[0].utf8.count <= 2 else {
            return nil
        }
        var minute = 0
        if parts.count == 2 {
            guard parts[1].utf8.count == 2, let read = whole(parts[1], 0...59) else { return nil }
            minute = read
        }
        guard isAfterAt || parts.count == 2 || half != nil else { return nil }
        switch half {
        case .morning?: return (1...12).contains(hour) ? TimeOfDay(hour: hour % 12, minute: minute) : nil
        case .afternoon?: return (1...12).contains(hour) ? TimeOfDay(hour: hour % 12 + 12, minute: minute) : nil
        case nil:
            let isAfternoon = (1...7).contains(hour) || isTonight && (8...11).contains(hour)
            // "07:30" is written by a clock.
            let isClock = parts[0].utf8.count == 2 && parts[0].hasPrefix("0")
            return TimeOfDay(hour: isAfternoon && !isClock ? hour + 12 : hour, minute: minute)
        }
    }

    private enum Half { case morning, afternoon }

    private static func halfOfDay(_ word: String) -> Half? {
        switch word {
        case "am", "a.m": .morning
        case "pm", "p.m": .afternoon
        default: nil
        }
    }

    /// ASCII digits alone.
    private static func whole(_ text: String, _ bounds: ClosedRange<Int>) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(text), bounds.contains(number)
        else { return nil }
        return number
    }
}

extension Substring {
    /// Without what precedes and follows a word in a sentence.
    fileprivate var trimmingPunctuation: String {
        func isPunctuation(_ character: Character) -> Bool { ".,;!?()\"'“”‘’".contains(character) }
        var word = self
        while let first = word.first, isPunctuation(first) { word.removeFirst() }
        while let last = word.last, isPunctuation(last) { word.removeLast() }
        return String(word)
    }
}
