import Domain

/// A time of day as it is said.
enum SpokenTime: Hashable {
    /// The next midnight.
    case midnight
    case clock(Clock)

    /// An hour and a minute.
    struct Clock: Hashable {
        let hour: Int
        let minute: Int
        var half: PartOfDay.Half?
        /// Whether it is written as a clock shows it, such as `07:30`.
        var isExact = false

        /// The time meant; nil where the hour is not one of that part of the day.
        func time(in part: PartOfDay?) -> TimeOfDay? {
            guard (0...59).contains(minute) else { return nil }
            if let half { return Self.twelve(hour, minute, half) }
            if let part {
                if hour > 12 || isExact {
                    return part.hours.contains(hour) ? TimeOfDay(hour: hour, minute: minute) : nil
                }
                return [0, 12].lazy.map { hour % 12 + $0 }.first(where: part.hours.contains).flatMap {
                    TimeOfDay(hour: $0, minute: minute)
                }
            }
            return TimeOfDay(hour: (1...7).contains(hour) && !isExact ? hour + 12 : hour, minute: minute)
        }

        private static func twelve(_ hour: Int, _ minute: Int, _ half: PartOfDay.Half) -> TimeOfDay? {
            guard (1...12).contains(hour) else { return nil }
            return TimeOfDay(hour: hour % 12 + (half == .afternoon ? 12 : 0), minute: minute)
        }
    }
}

/// A part of the day.
enum PartOfDay: String {
    case morning, afternoon, evening, night

    enum Half { case morning, afternoon }

    var hours: ClosedRange<Int> {
        switch self {
        case .morning: 0...11
        case .afternoon: 12...18
        case .evening: 16...23
        case .night: 17...23
        }
    }

    /// The time that is meant where none is said.
    var usual: [TimeOfDay] {
        let hour: Int
        switch self {
        case .morning: hour = 9
        case .afternoon: hour = 15
        case .evening: hour = 18
        case .night: hour = 20
        }
        return [TimeOfDay(hour: hour, minute: 0)].compactMap(\.self)
    }

    /// The times to try for today when the usual ones have passed: 20:00, 22:00 and 23:59.
    static let late = [(20, 0), (22, 0), (23, 59)].compactMap { TimeOfDay(hour: $0.0, minute: $0.1) }
}

/// Numbers as they are said and written.
enum SpokenNumber {
    private static let words: [String: Int] = [
        "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
        "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "twenty-five": 25, "thirty": 30,
    ]

    /// A number in digits or as a word; nil outside the bounds.
    static func read(_ word: String, _ bounds: ClosedRange<Int>) -> Int? {
        (words[word] ?? whole(word)).flatMap { bounds.contains($0) ? $0 : nil }
    }

    /// ASCII digits alone, at most four.
    static func whole(_ text: some StringProtocol) -> Int? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// `1st`, `22nd`, `3rd`, `4th`, or the number alone: a day of a month.
    static func day(_ word: String, needsEnding: Bool = false) -> Int? {
        let number = ["st", "nd", "rd", "th"].first(where: word.hasSuffix).map { word.dropLast($0.count) }
        if needsEnding, number == nil { return nil }
        return whole(number ?? word[...]).flatMap {
            (1...31).contains($0) && (number ?? word[...]).utf8.count <= 2 ? $0 : nil
        }
    }
}
