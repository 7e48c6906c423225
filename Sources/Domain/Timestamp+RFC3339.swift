extension Timestamp {
    /// Reads an RFC 3339 date-time with a zone: `2026-02-03T04:05:06Z`, any number of fraction digits (those past the
    /// sixth are dropped), offsets as `+01:00`. Years 0001…9999; a leap second counts as the second before.
    public init?(rfc3339 text: some StringProtocol) {
        var reader = DigitReader(text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), reader.skip("T") || reader.skip("t") || reader.skip(" "),
            let hour = reader.number(2), reader.skip(":"), let minute = reader.number(2), reader.skip(":"),
            let second = reader.number(2), second <= 60,
            let date = CivilDate(year: year, month: month, day: day),
            let time = TimeOfDay(hour: hour, minute: minute, second: min(second, 59)),
            let fraction = reader.fraction(), let offset = reader.zoneOffset(), reader.isAtEnd
        else { return nil }
        let seconds = date.daysSinceEpoch * 86_400 + Int64(time.secondsSinceMidnight - offset)
        microseconds = seconds * 1_000_000 + Int64(fraction)
    }

    /// `2026-02-03T04:05:06.789Z`: UTC, exactly three fraction digits, floored.
    public var rfc3339: String {
        String(unsafeUninitializedCapacity: 24) { buffer in
            let octets = rfc3339Octets
            for place in 0..<24 { buffer[place] = octets[place] }
            return 24
        }
    }

    /// The 24 octets of `rfc3339`, without building a string.
    public var rfc3339Octets: InlineArray<24, UInt8> {
        let milliseconds = floorDivide(microseconds, 1_000)
        let seconds = floorDivide(milliseconds, 1_000)
        let days = floorDivide(seconds, 86_400)
        let date = CivilDate(daysSinceEpoch: days)
        let inDay = Int(seconds - days * 86_400)
        let fraction = Int(milliseconds - seconds * 1_000)
        var octets = InlineArray<24, UInt8>(repeating: UInt8(ascii: "-"))
        octets[10] = UInt8(ascii: "T")
        octets[13] = UInt8(ascii: ":")
        octets[16] = UInt8(ascii: ":")
        octets[19] = UInt8(ascii: ".")
        octets[23] = UInt8(ascii: "Z")
        func put(_ number: Int, at place: Int) {
            octets[place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number / 10 % 10)
            octets[place + 1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number % 10)
        }
        put(date.year / 100, at: 0)
        put(date.year % 100, at: 2)
        put(date.month, at: 5)
        put(date.day, at: 8)
        put(inDay / 3_600, at: 11)
        put(inDay / 60 % 60, at: 14)
        put(inDay % 60, at: 17)
        put(fraction / 10, at: 20)
        octets[22] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: fraction % 10)
        return octets
    }
}

/// Reads fixed-width numbers out of UTF-8, byte by byte: ASCII digits and nothing else.
struct DigitReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    mutating func number(_ width: Int) -> Int? {
        guard bytes.count - position >= width else { return nil }
        var value = 0
        for place in position..<position + width {
            let digit = bytes[place] &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value * 10 + Int(digit)
        }
        position += width
        return value
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, UInt32(bytes[position]) == character.value else { return false }
        position += 1
        return true
    }

    /// `.123456789` as microseconds; 0 where there is none.
    mutating func fraction() -> Int? {
        guard skip(".") else { return 0 }
        var value = 0
        var count = 0
        while let digit = number(1) {
            if count < 6 { value = value * 10 + digit }
            count += 1
        }
        guard count > 0 else { return nil }
        for _ in min(count, 6)..<6 { value *= 10 }
        return value
    }

    /// `Z` or `±HH:MM`, in seconds.
    mutating func zoneOffset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hour = number(2), hour <= 23, skip(":"), let minute = number(2), minute <= 59 else { return nil }
        return sign * (hour * 3_600 + minute * 60)
    }
}
