extension Timestamp {
    /// Reads an RFC 3339 date-time with a zone: `2026-02-03T04:05:06Z`, any number of fraction digits (those past the
    /// sixth are dropped), offsets as `+01:00`. Years 0001…9999; a leap second counts as the second before.
    public init?(rfc3339 text: some StringProtocol) {
        var reader = DigitReader(text.utf8)
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
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        appendRFC3339(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends what `rfc3339` returns, without building a string.
    public func appendRFC3339(to bytes: inout [UInt8]) {
        let milliseconds = floorDivide(microseconds, 1_000)
        let seconds = floorDivide(milliseconds, 1_000)
        let days = floorDivide(seconds, 86_400)
        let date = CivilDate(daysSinceEpoch: days)
        let inDay = Int(seconds - days * 86_400)
        func digits(_ value: Int, _ count: Int) {
            var divisor = count == 4 ? 1_000 : count == 3 ? 100 : 10
            while divisor > 0 {
                bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / divisor % 10))
                divisor /= 10
            }
        }
        digits(date.year, 4)
        bytes.append(UInt8(ascii: "-"))
        digits(date.month, 2)
        bytes.append(UInt8(ascii: "-"))
        digits(date.day, 2)
        bytes.append(UInt8(ascii: "T"))
        digits(inDay / 3_600, 2)
        bytes.append(UInt8(ascii: ":"))
        digits(inDay / 60 % 60, 2)
        bytes.append(UInt8(ascii: ":"))
        digits(inDay % 60, 2)
        bytes.append(UInt8(ascii: "."))
        digits(Int(milliseconds - seconds * 1_000), 3)
        bytes.append(UInt8(ascii: "Z"))
    }
}

/// Reads fixed-width numbers out of text, byte by byte: ASCII digits and nothing else.
struct DigitReader<Bytes: Collection> where Bytes.Element == UInt8 {
    private var rest: Bytes.SubSequence

    init(_ bytes: Bytes) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number(_ width: Int) -> Int? {
        var value = 0
        for _ in 0..<width {
            guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            rest = rest.dropFirst()
        }
        return value
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let byte = rest.first, UInt32(byte) == character.value else { return false }
        rest = rest.dropFirst()
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
