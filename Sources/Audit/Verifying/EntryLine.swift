import Domain

/// Reads the lines that an export consists of, the entries, straight from their octets.
///
/// It takes exactly the form in which the server writes them: the members in their order, without blanks and escapes.
/// Anything else is nil, and is for a JSON reader to look at; so this is quick, and no second opinion on what a line says.
public struct EntryLine {
    private let octets: ArraySlice<UInt8>
    private let end: Int
    private var place: Int

    private init(_ octets: ArraySlice<UInt8>) {
        self.octets = octets
        place = octets.startIndex
        end = octets.endIndex
    }

    /// The record of a line, without its line feed; nil for what is not an entry in that form.
    public static func record(_ line: ArraySlice<UInt8>) -> ExportRecord? {
        var reader = EntryLine(line)
        return reader.read()
    }

    private mutating func read() -> ExportRecord? {
        guard skip(#"{"entry":{"family_id":"#), let family: FamilyID = identifier(), skip(#","n":"#),
            let number = integer(), skip(#","at_us":"#), let time = integer(), skip(#","kind":"#), let kind = text(),
            skip(#","actor":"#), let actor: Pseudonym = identifier(), skip(#","subject":"#),
            let subject: Pseudonym? = optionalIdentifier(), skip(#","resource_id":"#),
            let resource: ResourceID? = optionalIdentifier(), skip(#","trace_id":"#),
            let trace: TraceID = identifier(), skip(#","request_id":"#), let request: RequestID = identifier(),
            skip(#","commit":"#), let commitment = digest(), skip(#","prev":"#), let previous = digest(),
            skip(#","hash":"#), let hash = digest(), skip(#","position":"#)
        else { return nil }
        let position: Int64?
        if skip("null") {
            position = nil
        } else {
            guard let number = integer() else { return nil }
            position = number
        }
        guard skip(#","payload":"#), let payload = payload(), skip("}}"), place == end else { return nil }
        let act = AuditEntry.Act(
            kind: kind, actor: actor, subject: subject, resource: resource, trace: trace, request: request,
            commitment: commitment)
        let entry = AuditEntry(
            family: family, number: number, at: Timestamp(microseconds: time), act: act, previous: previous, hash: hash)
        return .entry(entry, payload, position: position)
    }

    private mutating func payload() -> ExportRecord.Payload? {
        if skip(#""whole","salt":"#) {
            guard let salt = digest(), skip(#","body":""#), let body = hexadecimal(upTo: UInt8(ascii: "\"")) else {
                return nil
            }
            return .whole(salt: salt, body: body)
        }
        if skip(#""erased","salt":null,"body":null"#) { return .erased }
        if skip(#""unreadable","salt":null,"body":null"#) { return .unreadable }
        return nil
    }

    // MARK: Values

    private mutating func skip(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard end - place >= count else { return false }
        for index in 0..<count where octets[place + index] != (unsafe literal.utf8Start[index]) { return false }
        place += count
        return true
    }

    private mutating func integer() -> Int64? {
        let start = place
        var value: Int64 = 0
        while place < end, place - start < 18, case let digit = octets[place] &- 0x30, digit < 10 {
            value = value * 10 + Int64(digit)
            place += 1
        }
        return place > start && (place == start + 1 || octets[start] != 0x30) ? value : nil
    }

    /// A string of visible ASCII without escapes.
    private mutating func text() -> String? {
        guard skip("\"") else { return nil }
        let start = place
        while place < end, octets[place] != UInt8(ascii: "\"") {
            guard (0x20...0x7e).contains(octets[place]), octets[place] != UInt8(ascii: "\\") else { return nil }
            place += 1
        }
        guard place < end else { return nil }
        defer { place += 1 }
        return String(decoding: octets[start..<place], as: UTF8.self)
    }

    private mutating func optionalIdentifier<Kind>() -> Identifier<Kind>?? {
        if skip("null") { return .some(nil) }
        guard let value: Identifier<Kind> = identifier() else { return nil }
        return .some(value)
    }

    private mutating func identifier<Kind>() -> Identifier<Kind>? {
        guard end - place >= 38, octets[place] == UInt8(ascii: "\""), octets[place + 37] == UInt8(ascii: "\"")
        else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for index in 0..<36 {
            let octet = octets[place + 1 + index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard octet == UInt8(ascii: "-") else { return nil }
                continue
            }
            let value = Self.values[Int(octet)]
            guard value < 16 else { return nil }
            if index < 18 { high = high << 4 | UInt64(value) } else { low = low << 4 | UInt64(value) }
        }
        place += 38
        return Identifier(high: high, low: low)
    }

    private mutating func digest() -> [UInt8]? {
        guard skip("\""), end - place >= 65, octets[place + 64] == UInt8(ascii: "\"") else { return nil }
        return hexadecimal(upTo: UInt8(ascii: "\""))
    }

    private mutating func hexadecimal(upTo mark: UInt8) -> [UInt8]? {
        let start = place
        while place < end, octets[place] != mark { place += 1 }
        guard place < end, (place - start).isMultiple(of: 2) else { return nil }
        let count = (place - start) / 2
        var isRight = true
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count {
                let high = Self.values[Int(octets[start + 2 * index])]
                let low = Self.values[Int(octets[start + 2 * index + 1])]
                if high | low > 15 { isRight = false }
                unsafe buffer[index] = high << 4 | low & 15
            }
            initialized = count
        }
        place += 1
        return isRight ? bytes : nil
    }

    /// The value of each lower-case hexadecimal digit; 255 for every other octet.
    private static let values: InlineArray<256, UInt8> = {
        var values = InlineArray<256, UInt8>(repeating: 255)
        for value in 0..<10 { values[0x30 + value] = UInt8(value) }
        for value in 10..<16 { values[0x61 + value - 10] = UInt8(value) }
        return values
    }()
}
