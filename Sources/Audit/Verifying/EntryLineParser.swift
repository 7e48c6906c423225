import Domain

/// Parses entries, the most frequent lines of an export, straight from their bytes.
///
/// It accepts exactly the form in which the server writes entries: the members in their order, without blanks and
/// escapes. For anything else it returns nil and leaves the line to a JSON parser, so that the two never disagree about
/// a line.
public struct EntryLineParser {
    private let bytes: ArraySlice<UInt8>
    private let end: Int
    private var readIndex: Int

    private init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        readIndex = bytes.startIndex
        end = bytes.endIndex
    }

    /// Parses a line without its line feed; nil unless it is an entry in the form that the server writes.
    public static func parse(_ line: ArraySlice<UInt8>) -> ExportRecord? {
        var parser = EntryLineParser(line)
        return parser.readEntry()
    }

    private mutating func readEntry() -> ExportRecord? {
        guard skip(#"{"entry":{"family_id":"#), let family: FamilyID = readIdentifier(), skip(#","n":"#),
            let number = readInteger(), skip(#","at_us":"#), let time = readInteger(), skip(#","kind":"#),
            let kind = readText(), skip(#","actor":"#), let actor: Pseudonym = readIdentifier(),
            skip(#","subject":"#), let subject: Pseudonym? = readOptionalIdentifier(), skip(#","resource_id":"#),
            let resource: ResourceID? = readOptionalIdentifier(), skip(#","trace_id":"#),
            let trace: TraceID = readIdentifier(), skip(#","request_id":"#),
            let request: RequestID = readIdentifier(), skip(#","commit":"#), let commitment = readDigest(),
            skip(#","prev":"#), let previous = readDigest(), skip(#","hash":"#), let hash = readDigest(),
            skip(#","position":"#)
        else { return nil }
        let position: Int64?
        if skip("null") {
            position = nil
        } else {
            guard let number = readInteger() else { return nil }
            position = number
        }
        guard skip(#","payload":"#), let payload = readPayload(), skip("}}"), readIndex == end else { return nil }
        let act = AuditEntry.Act(
            kind: kind, actor: actor, subject: subject, resource: resource, trace: trace, request: request,
            commitment: commitment)
        let entry = AuditEntry(
            family: family, number: number, at: Timestamp(microseconds: time), act: act, previous: previous, hash: hash)
        return .entry(entry, payload, position: position)
    }

    private mutating func readPayload() -> ExportRecord.Payload? {
        if skip(#""whole","salt":"#) {
            guard let salt = readDigest(), skip(#","body":""#), let body = readHexadecimal(atMost: end - readIndex)
            else { return nil }
            return .whole(salt: salt, body: body)
        }
        if skip(#""erased","salt":null,"body":null"#) { return .erased }
        if skip(#""unreadable","salt":null,"body":null"#) { return .unreadable }
        return nil
    }

    // MARK: Values

    private mutating func skip(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard end - readIndex >= count else { return false }
        for index in 0..<count where bytes[readIndex + index] != (unsafe literal.utf8Start[index]) { return false }
        readIndex += count
        return true
    }

    private mutating func readInteger() -> Int64? {
        let start = readIndex
        var value: Int64 = 0
        while readIndex < end, readIndex - start < 18, case let digit = bytes[readIndex] &- 0x30, digit < 10 {
            value = value * 10 + Int64(digit)
            readIndex += 1
        }
        return readIndex > start && (readIndex == start + 1 || bytes[start] != 0x30) ? value : nil
    }

    /// Reads a string of visible ASCII without escapes.
    private mutating func readText() -> String? {
        guard skip("\"") else { return nil }
        let start = readIndex
        while readIndex < end, bytes[readIndex] != UInt8(ascii: "\"") {
            guard (0x20...0x7e).contains(bytes[readIndex]), bytes[readIndex] != UInt8(ascii: "\\") else { return nil }
            readIndex += 1
        }
        guard readIndex < end else { return nil }
        defer { readIndex += 1 }
        return String(decoding: bytes[start..<readIndex], as: UTF8.self)
    }

    private mutating func readOptionalIdentifier<Kind>() -> Identifier<Kind>?? {
        if skip("null") { return .some(nil) }
        guard let value: Identifier<Kind> = readIdentifier() else { return nil }
        return .some(value)
    }

    private mutating func readIdentifier<Kind>() -> Identifier<Kind>? {
        guard end - readIndex >= 38, bytes[readIndex] == UInt8(ascii: "\""), bytes[readIndex + 37] == UInt8(ascii: "\"")
        else { return nil }
        let start = readIndex + 1
        let dash = UInt8(ascii: "-")
        guard bytes[start + 8] == dash, bytes[start + 13] == dash, bytes[start + 18] == dash,
            bytes[start + 23] == dash,
            let word0 = hexWord(start, start + 4), let word1 = hexWord(start + 9, start + 14),
            let word2 = hexWord(start + 19, start + 24), let word3 = hexWord(start + 28, start + 32)
        else { return nil }
        let (high, low) = (UInt64(word0) << 32 | UInt64(word1), UInt64(word2) << 32 | UInt64(word3))
        readIndex += 38
        return Identifier(high: high, low: low)
    }

    /// Returns the value of eight hexadecimal digits: four at each of the two indices.
    private func hexWord(_ left: Int, _ right: Int) -> UInt32? {
        precondition(bytes.startIndex <= left && left + 4 <= end && bytes.startIndex <= right && right + 4 <= end)
        let digits = unsafe bytes.withUnsafeBytes { source in
            let (left, right) = (left - bytes.startIndex, right - bytes.startIndex)
            return (
                unsafe UInt32(littleEndian: source.loadUnaligned(fromByteOffset: left, as: UInt32.self)),
                unsafe UInt32(littleEndian: source.loadUnaligned(fromByteOffset: right, as: UInt32.self))
            )
        }
        return Self.decodeHex8(UInt64(digits.1) << 32 | UInt64(digits.0))?.byteSwapped
    }

    private mutating func readDigest() -> [UInt8]? {
        guard skip("\""), end - readIndex >= 65, bytes[readIndex + 64] == UInt8(ascii: "\"") else { return nil }
        return readHexadecimal(atMost: 64)
    }

    /// Reads hexadecimal digits up to a quotation mark, which is consumed.
    private mutating func readHexadecimal(atMost limit: Int) -> [UInt8]? {
        let (start, length) = (readIndex - bytes.startIndex, min(limit, end - readIndex))
        // All empty arrays share their storage, and creating one here would write to it from several threads.
        guard length > 0 else { return nil }
        var count = 0
        let decoded = unsafe bytes.withUnsafeBytes { source in
            unsafe [UInt8](unsafeUninitializedCapacity: (length + 1) / 2) { buffer, initialized in
                while 2 * count + 8 <= length {
                    let digits = unsafe source.loadUnaligned(fromByteOffset: start + 2 * count, as: UInt64.self)
                    guard let four = Self.decodeHex8(UInt64(littleEndian: digits)) else { break }
                    unsafe UnsafeMutableRawBufferPointer(buffer).storeBytes(
                        of: four.littleEndian, toByteOffset: count, as: UInt32.self)
                    count += 4
                }
                while 2 * count + 2 <= length {
                    guard let high = unsafe Self.digitValue(source[start + 2 * count]),
                        let low = unsafe Self.digitValue(source[start + 2 * count + 1])
                    else { break }
                    unsafe buffer[count] = high << 4 | low
                    count += 1
                }
                initialized = count
            }
        }
        readIndex += 2 * count
        guard readIndex < end, bytes[readIndex] == UInt8(ascii: "\"") else { return nil }
        readIndex += 1
        return decoded
    }

    /// Returns four bytes from eight digits at once, the first byte in the lowest byte of the result; nil unless all
    /// are lower-case hexadecimal digits.
    private static func decodeHex8(_ text: UInt64) -> UInt32? {
        let onePerByte: UInt64 = 0x0101_0101_0101_0101
        // Letters have a bit that digits do not; a letter's low bits count from 1 and mean 10 and more.
        let letters = (text >> 6) & onePerByte
        let values = (text & 0x0f0f_0f0f_0f0f_0f0f) &+ (letters &* 9)
        guard values & 0xf0f0_f0f0_f0f0_f0f0 == 0, ((values &+ (onePerByte &* 6)) >> 4) & onePerByte == letters,
            values &+ (onePerByte &* 0x30) &+ (letters &* 0x27) == text
        else { return nil }
        var pairs = ((values << 4) | (values >> 8)) & 0x00ff_00ff_00ff_00ff
        pairs = (pairs | (pairs >> 8)) & 0x0000_ffff_0000_ffff
        return UInt32(truncatingIfNeeded: pairs | (pairs >> 16))
    }

    /// Returns the value of a lower-case hexadecimal digit; nil for any other character.
    private static func digitValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
