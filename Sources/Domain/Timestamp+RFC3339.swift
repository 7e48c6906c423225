extension Timestamp {
    /// Parses an RFC 3339 date-time with a zone: `2026-02-03T04:05:06Z`, with any number of fraction digits (those
    /// after the sixth are dropped) and offsets such as `+01:00`. Years 0001…9999, although the offset can move the
    /// result out of them; a leap second counts as the second before.
    public init?(rfc3339 text: some StringProtocol) {
        var reader = DigitReader(text)
        guard let year = reader.readNumber(4), reader.skip("-"), let month = reader.readNumber(2), reader.skip("-"),
            let day = reader.readNumber(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.readNumber(2), reader.skip(":"), let minute = reader.readNumber(2), reader.skip(":"),
            let second = reader.readNumber(2), second <= 60,
            let date = CivilDate(year: year, month: month, day: day),
            let time = TimeOfDay(hour: hour, minute: minute, second: min(second, 59)),
            let fraction = reader.readFractionMicroseconds(), let offset = reader.readZoneOffsetSeconds(),
            reader.isAtEnd
        else { return nil }
        let seconds = date.daysSinceEpoch * 86_400 + Int64(time.secondsSinceMidnight - offset)
        microseconds = seconds * 1_000_000 + Int64(fraction)
    }

    /// `2026-02-03T04:05:06.789Z`: UTC with exactly three fraction digits, rounded down.
    public var rfc3339: String {
        String(unsafeUninitializedCapacity: 24) { buffer in
            let words = rfc3339Words
            for index in 0..<24 {
                buffer[index] = UInt8(truncatingIfNeeded: words[index / 8] >> UInt64(index % 8 * 8))
            }
            return 24
        }
    }

    /// The time to the minute, for people, such as `2026-11-28 14:05 UTC`.
    public var minuteText: String { "\(rfc3339.prefix(10)) \(rfc3339.dropFirst(11).prefix(5)) UTC" }

    /// The 24 bytes of `rfc3339`, eight per word, the first in the lowest byte, for fast writing.
    public var rfc3339Words: InlineArray<3, UInt64> {
        let milliseconds = floorDivide(microseconds, 1_000)
        let seconds = floorDivide(milliseconds, 1_000)
        let days = floorDivide(seconds, 86_400)
        let date = CivilDate(daysSinceEpoch: days)
        let second = UInt64(truncatingIfNeeded: seconds - days * 86_400)
        let fraction = UInt64(truncatingIfNeeded: milliseconds - seconds * 1_000)
        let year = UInt64(truncatingIfNeeded: date.year)
        let (month, day) = (UInt64(truncatingIfNeeded: date.month), UInt64(truncatingIfNeeded: date.day))
        let dateDigits = asciiDigitPairs(year / 100, year % 100, month, day)
        let timeDigits = asciiDigitPairs(second / 3_600, second / 60 % 60, second % 60, fraction / 10)
        return [
            dateDigits & 0xFFFF_FFFF | byte("-", 4) | (dateDigits >> 32 & 0xFFFF) << 40 | byte("-", 7),
            dateDigits >> 48 | byte("T", 2) | (timeDigits & 0xFFFF) << 24 | byte(":", 5) | (timeDigits >> 16 & 0xFFFF)
                << 48,
            byte(":", 0) | (timeDigits >> 32 & 0xFFFF) << 8 | byte(".", 3) | (timeDigits >> 48) << 32
                | (fraction % 10 + byte("0", 0)) << 48 | byte("Z", 7),
        ]
    }
}

/// The two digits of each of four numbers below 100, computed in parallel; the first digit is in the lowest byte.
private func asciiDigitPairs(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) -> UInt64 {
    let numbers = first | second << 16 | third << 32 | fourth << 48
    // 103/1024 approximates a tenth closely enough below 100.
    let tens = (numbers &* 103) >> 10 & 0x000F_000F_000F_000F
    return (tens | (numbers &- tens &* 10) << 8) &+ 0x3030_3030_3030_3030
}

/// Returns a word with a character in the byte with that index, counted from the lowest byte.
private func byte(_ character: Unicode.Scalar, _ index: UInt64) -> UInt64 { UInt64(character.value) << (8 * index) }

/// Parses fixed-width numbers from UTF-8: ASCII digits only.
struct DigitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    /// Parses a number of `width` digits; nil if there are not so many.
    mutating func readNumber(_ width: Int) -> Int? {
        guard bytes.count - position >= width else { return nil }
        var value = 0
        for index in position..<position + width {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value * 10 + Int(digit)
        }
        position += width
        return value
    }

    /// Skips a character; returns false if the next one is another.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    /// Parses `.123456789` as microseconds; 0 if there is no fraction, nil if no digit follows the point.
    mutating func readFractionMicroseconds() -> Int? {
        guard skip(".") else { return 0 }
        var value = 0
        var count = 0
        while let digit = readNumber(1) {
            if count < 6 { value = value * 10 + digit }
            count += 1
        }
        guard count > 0 else { return nil }
        for _ in min(count, 6)..<6 { value *= 10 }
        return value
    }

    /// Parses `Z` or `±HH:MM` as seconds; nil for any other text.
    mutating func readZoneOffsetSeconds() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hour = readNumber(2), hour <= 23, skip(":"), let minute = readNumber(2), minute <= 59
        else { return nil }
        return sign * (hour * 3_600 + minute * 60)
    }
}
