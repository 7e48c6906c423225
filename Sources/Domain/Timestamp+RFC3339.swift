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
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        appendRFC3339(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends what `rfc3339` returns, without building a string.
    public func appendRFC3339(to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: 24) { appendRFC3339(to: &$0) }
    }

    /// The same 24 bytes into space that is there already.
    public func appendRFC3339(to output: inout OutputSpan<UInt8>) {
        let milliseconds = floorDivide(microseconds, 1_000)
        let seconds = floorDivide(milliseconds, 1_000)
        let days = floorDivide(seconds, 86_400)
        let date = CivilDate(daysSinceEpoch: days)
        let inDay = Int(seconds - days * 86_400)
        let fraction = Int(milliseconds - seconds * 1_000)
        output.append(twoDigits: date.year / 100)
        output.append(twoDigits: date.year % 100)
        output.append(UInt8(ascii: "-"))
        output.append(twoDigits: date.month)
        output.append(UInt8(ascii: "-"))
        output.append(twoDigits: date.day)
        output.append(UInt8(ascii: "T"))
        output.append(twoDigits: inDay / 3_600)
        output.append(UInt8(ascii: ":"))
        output.append(twoDigits: inDay / 60 % 60)
        output.append(UInt8(ascii: ":"))
        output.append(twoDigits: inDay % 60)
        output.append(UInt8(ascii: "."))
        output.append(twoDigits: fraction / 10)
        output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction % 10))
        output.append(UInt8(ascii: "Z"))
    }
}

extension OutputSpan where Element == UInt8 {
    fileprivate mutating func append(twoDigits number: Int) {
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10 % 10))
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
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
