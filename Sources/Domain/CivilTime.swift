/// A day of the Gregorian calendar, without a time zone.
public struct CivilDate: Hashable, Comparable, Sendable {
    public let year: Int
    public let month: Int
    public let day: Int

    /// Creates a date; nil unless it exists and its year is 1…9999.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= CivilDate.daysInMonth(year: year, month: month)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// Creates the date that is so many days after 1970-01-01, or before it for a negative number (H. Hinnant,
    /// "chrono-compatible low-level date algorithms"). Its year can be outside 1…9999.
    public init(daysSinceEpoch: Int64) {
        let daysFromMarchOfYear0 = daysSinceEpoch + 719_468
        let era = floorDivide(daysFromMarchOfYear0, 146_097)
        let dayOfEra = daysFromMarchOfYear0 - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthSinceMarch = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * monthSinceMarch + 2) / 5 + 1)
        month = Int(monthSinceMarch < 10 ? monthSinceMarch + 3 : monthSinceMarch - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
    }

    public var daysSinceEpoch: Int64 {
        let yearFromMarch = Int64(month <= 2 ? year - 1 : year)
        let era = floorDivide(yearFromMarch, 400)
        let yearOfEra = yearFromMarch - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    public var weekday: Weekday {
        let index = (daysSinceEpoch + 3) - floorDivide(daysSinceEpoch + 3, 7) * 7
        return Weekday.allCases[Int(index)]
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    public static func daysInMonth(year: Int, month: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }
}

extension CivilDate {
    /// Creates the date of a day in a month, or of the month's last day if the month is shorter; nil outside the years
    /// of a date.
    /// - Parameter monthsSinceYear0: the number of months since January of year 0.
    init?(monthsSinceYear0: Int, day: Int) {
        guard monthsSinceYear0 >= 0 else { return nil }
        let (year, month) = (monthsSinceYear0 / 12, monthsSinceYear0 % 12 + 1)
        self.init(year: year, month: month, day: min(day, Self.daysInMonth(year: year, month: month)))
    }

    /// The number of months since January of year 0.
    var monthsSinceYear0: Int { year * 12 + month - 1 }

    public func adding(days: Int64) -> CivilDate { CivilDate(daysSinceEpoch: daysSinceEpoch + days) }

    /// Returns the same day of another month, or its last day if that month is shorter; nil outside the years of a
    /// date.
    public func adding(months: Int) -> CivilDate? { CivilDate(monthsSinceYear0: monthsSinceYear0 + months, day: day) }
}

extension CivilDate: CustomStringConvertible {
    /// `YYYY-MM-DD`.
    public var description: String {
        let text = [year, month, day].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: "-")
        return String(repeating: "0", count: max(0, 10 - text.utf8.count)) + text
    }
}

public enum Weekday: String, Sendable, CaseIterable {
    case monday = "Monday"
    case tuesday = "Tuesday"
    case wednesday = "Wednesday"
    case thursday = "Thursday"
    case friday = "Friday"
    case saturday = "Saturday"
    case sunday = "Sunday"
}

/// A wall-clock time with a resolution of one second.
public struct TimeOfDay: Hashable, Comparable, Sendable {
    /// The number of seconds since midnight on a day without a clock change, 0…86,399.
    public let secondsSinceMidnight: Int

    public init?(hour: Int, minute: Int, second: Int = 0) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second) else { return nil }
        secondsSinceMidnight = hour * 3_600 + minute * 60 + second
    }

    /// Creates a time of day; nil outside 0…86,399.
    public init?(secondsSinceMidnight: Int) {
        guard (0..<86_400).contains(secondsSinceMidnight) else { return nil }
        self.secondsSinceMidnight = secondsSinceMidnight
    }

    /// Parses `HH:MM` or `HH:MM:SS`; nil for any other text.
    public init?(_ text: some StringProtocol) {
        var reader = DigitReader(text)
        guard let hour = reader.readNumber(2), reader.skip(":"), let minute = reader.readNumber(2) else { return nil }
        var second = 0
        if !reader.isAtEnd {
            guard reader.skip(":"), let value = reader.readNumber(2), reader.isAtEnd else { return nil }
            second = value
        }
        self.init(hour: hour, minute: minute, second: second)
    }

    public static func < (left: Self, right: Self) -> Bool {
        left.secondsSinceMidnight < right.secondsSinceMidnight
    }
}

extension TimeOfDay: CustomStringConvertible {
    /// `HH:MM:SS`.
    public var description: String {
        [secondsSinceMidnight / 3_600, secondsSinceMidnight / 60 % 60, secondsSinceMidnight % 60]
            .map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}

/// The offsets of one time zone. The module `TimeZones` reads them from files, so that the rules of this module do no
/// I/O.
public protocol ZoneRules: Sendable {
    /// Returns the number of seconds by which local time is ahead of UTC at a moment.
    func secondsFromUTC(at moment: Timestamp) -> Int
}

/// The rules of UTC.
public struct UniversalTime: ZoneRules {
    public init() {}
    public func secondsFromUTC(at _: Timestamp) -> Int { 0 }
}

extension ZoneRules {
    /// Returns the date and wall-clock time in this zone at a moment.
    public func local(_ moment: Timestamp) -> (date: CivilDate, time: TimeOfDay) {
        let local = moment.seconds + Int64(secondsFromUTC(at: moment))
        let days = floorDivide(local, 86_400)
        let seconds = Int(local - days * 86_400)
        return (CivilDate(daysSinceEpoch: days), TimeOfDay(secondsSinceMidnight: seconds) ?? .midnight)
    }

    /// Returns the moment of a wall-clock time in this zone. If a clock change skips the time, the moment is later by
    /// the gap; if the time occurs twice, it is the first.
    public func moment(_ date: CivilDate, _ time: TimeOfDay) -> Timestamp {
        let wallSeconds = date.daysSinceEpoch * 86_400 + Int64(time.secondsSinceMidnight)
        let offsetBefore = Int64(secondsFromUTC(at: Timestamp(seconds: wallSeconds - 86_400)))
        let offsetAfter = Int64(secondsFromUTC(at: Timestamp(seconds: wallSeconds + 86_400)))
        // The result is the earlier candidate that has this wall-clock time. If neither has it, the result is computed
        // with the offset before the change.
        let candidates = [wallSeconds - offsetBefore, wallSeconds - offsetAfter].sorted()
        for candidate in candidates
        where candidate + Int64(secondsFromUTC(at: Timestamp(seconds: candidate))) == wallSeconds {
            return Timestamp(seconds: candidate)
        }
        return Timestamp(seconds: wallSeconds - offsetBefore)
    }
}

extension TimeOfDay {
    public static let midnight = TimeOfDay(unchecked: 0)

    private init(unchecked seconds: Int) { secondsSinceMidnight = seconds }
}
