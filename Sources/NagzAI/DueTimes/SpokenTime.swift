import Domain

/// A time of day as a person says it.
enum SpokenTime: Hashable {
    /// The next midnight.
    case midnight
    case clock(ClockTime)

    /// An hour and a minute as said, with the half of the day if it was named.
    struct ClockTime: Hashable {
        let hour: Int
        let minute: Int
        var half: PartOfDay.Half?
        /// Whether it is written as on a 24-hour clock, such as `07:30` or `17:00`.
        var is24Hour = false

        /// Returns the time of day; nil if the hour is not in the named half or part of the day. Without either, the
        /// hours from 1 to 7 of a 12-hour clock are after noon.
        func time(in part: PartOfDay?) -> TimeOfDay? {
            guard (0...59).contains(minute) else { return nil }
            if let half { return Self.twelveHourTime(hour, minute, half) }
            if let part {
                if hour > 12 || is24Hour {
                    return part.hours.contains(hour) ? TimeOfDay(hour: hour, minute: minute) : nil
                }
                return [0, 12].lazy.map { hour % 12 + $0 }.first(where: part.hours.contains).flatMap {
                    TimeOfDay(hour: $0, minute: minute)
                }
            }
            return TimeOfDay(hour: (1...7).contains(hour) && !is24Hour ? hour + 12 : hour, minute: minute)
        }

        /// Returns the time of a 12-hour clock; nil if the hour is not in 1…12.
        private static func twelveHourTime(_ hour: Int, _ minute: Int, _ half: PartOfDay.Half) -> TimeOfDay? {
            guard (1...12).contains(hour) else { return nil }
            return TimeOfDay(hour: hour % 12 + (half == .pm ? 12 : 0), minute: minute)
        }
    }
}

/// A part of the day.
enum PartOfDay: String {
    case morning, afternoon, evening, night

    /// A half of the day.
    enum Half { case am, pm }

    /// The hours that belong to the part of the day.
    var hours: ClosedRange<Int> {
        switch self {
        case .morning: 0...11
        case .afternoon: 12...18
        case .evening: 16...23
        case .night: 17...23
        }
    }

    /// The due time of a part of the day without a clock time, as a list of one.
    var defaultTimes: [TimeOfDay] {
        let hour: Int
        switch self {
        case .morning: hour = 9
        case .afternoon: hour = 15
        case .evening: hour = 18
        case .night: hour = 20
        }
        return [TimeOfDay(hour: hour, minute: 0)].compactMap(\.self)
    }

    /// The times that are tried for today if the default time has passed: 20:00, 22:00 and 23:59.
    static let lateTimes = [(20, 0), (22, 0), (23, 59)].compactMap { TimeOfDay(hour: $0.0, minute: $0.1) }
}

/// Reads numbers in digits and as words.
enum SpokenNumber {
    private static let words: [String: Int] = [
        "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
        "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "twenty-five": 25, "thirty": 30,
    ]

    /// Returns a number in digits or as a word; nil outside the bounds.
    static func read(_ word: String, _ bounds: ClosedRange<Int>) -> Int? {
        (words[word] ?? readDigits(word)).flatMap { bounds.contains($0) ? $0 : nil }
    }

    /// Returns the number of one to four ASCII digits; nil for any other text.
    static func readDigits(_ text: some StringProtocol) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// Returns the day of a month in `1st`, `22nd`, `3rd`, `4th`, or, unless it needs an ending, in the number alone;
    /// nil for any other word.
    static func day(_ word: String, needsEnding: Bool = false) -> Int? {
        let number = ["st", "nd", "rd", "th"].first(where: word.hasSuffix).map { word.dropLast($0.count) }
        if needsEnding, number == nil { return nil }
        return readDigits(number ?? word[...]).flatMap {
            (1...31).contains($0) && (number ?? word[...]).utf8.count <= 2 ? $0 : nil
        }
    }
}
