/// Writes one JSON document to bytes, value by value, and inserts commas.
///
/// Containers are written by closures, so brackets always match. Inside an object a `key` MUST precede each value.
/// Except for doubles, no intermediate strings are built, so a table row costs no allocation but the growing output.
public struct JSONWriter: ~Copyable {
    @usableFromInline var output: ByteBuffer
    /// Whether the next value or name in the same container needs a comma before it.
    @usableFromInline var needsComma = false

    private init(_ output: consuming ByteBuffer) { self.output = output }

    /// Returns the document that `write` writes.
    /// - Parameter capacity: the expected size in bytes. A longer document is written correctly, but is copied.
    public static func document<Failure>(
        reserving capacity: Int = 256, _ write: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        try ByteBuffer.array(reserving: capacity) { buffer throws(Failure) in
            var json = JSONWriter(buffer)
            try write(&json)
            return json.output
        }
    }

    // MARK: Containers

    @inlinable
    public mutating func object<Failure>(
        _ members: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        open(UInt8(ascii: "{"))
        try members(&self)
        close(UInt8(ascii: "}"))
    }

    @inlinable
    public mutating func array<Failure>(
        _ elements: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        open(UInt8(ascii: "["))
        try elements(&self)
        close(UInt8(ascii: "]"))
    }

    /// Writes the name of the next value without escaping. The name MUST NOT need any.
    @inlinable @inline(__always)
    public mutating func key(_ name: StaticString) {
        let count = name.utf8CodeUnitCount
        unsafe appendValue(upTo: count + 3) { start in
            unsafe start[0] = UInt8(ascii: "\"")
            unsafe (start + 1).update(from: name.utf8Start, count: count)
            unsafe start[count + 1] = UInt8(ascii: "\"")
            unsafe start[count + 2] = UInt8(ascii: ":")
            return count + 3
        }
        needsComma = false
    }

    /// Writes the name of the next value, escaped.
    @inlinable
    public mutating func key(escaping name: String) {
        string(name)
        output.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Values

    @inlinable
    public mutating func null() {
        beginValue()
        output.append("null")
    }

    @inlinable
    public mutating func bool(_ value: Bool) {
        beginValue()
        output.append(value ? "true" : "false")
    }

    @inlinable
    public mutating func integer(_ value: some FixedWidthInteger & SignedInteger) {
        beginValue()
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "-"))
        var rest = UInt64(Int64(value).magnitude)
        var start = 20
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 { start -= 1 }
        output.append(digits.span.extracting(start..<20))
    }

    /// Writes the shortest digits that parse to the same number. A whole number has `.0`, unless it is so large that it
    /// has an exponent. Infinity and NaN, which JSON lacks, are written as null.
    public mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        var digits = value.description
        digits.withUTF8 { bytes in unsafe output.append(Span(_unsafeElements: bytes)) }
    }

    /// Writes a number as `double` does, but whole numbers below 2⁵³ without `.0`.
    public mutating func number(_ value: Double) {
        if let integral = wholeNumber(value), integral.magnitude < 1 << 53 { integer(integral) } else { double(value) }
    }

    @inlinable
    public mutating func string(_ text: String) {
        // Not `text.utf8.span`: optimised Swift 6.3 code may let the span of a short string from an optional outlive
        // the string.
        var text = text
        text.withUTF8 { bytes in unsafe string(utf8: Span(_unsafeElements: bytes)) }
    }

    /// Writes a string from UTF-8 bytes, which MUST be valid (as PostgreSQL's text is).
    @inlinable
    public mutating func string(utf8 text: Span<UInt8>) {
        var escapeIndex = text.indexOfByteToEscape(from: 0)
        guard escapeIndex < text.count else { return string(unescaped: text) }
        beginValue()
        output.append(UInt8(ascii: "\""))
        var runStart = 0
        while true {
            output.append(text.extracting(runStart..<escapeIndex))
            guard escapeIndex < text.count else { break }
            appendEscape(of: text[escapeIndex])
            runStart = escapeIndex + 1
            escapeIndex = text.indexOfByteToEscape(from: runStart)
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Writes a UUID in lower case, quoted.
    @inlinable
    public mutating func uuid(high: UInt64, low: UInt64) {
        unsafe appendValue(upTo: 38) { start in
            let text = UnsafeMutableRawPointer(start)
            let digits = hexadecimalDigits(high, low)
            unsafe start[0] = UInt8(ascii: "\"")
            unsafe text.storeBytes(of: digits[0], toByteOffset: 1, as: UInt64.self)
            unsafe text.storeBytes(of: digits[1], toByteOffset: 10, as: UInt64.self)
            unsafe text.storeBytes(of: UInt32(truncatingIfNeeded: digits[1] >> 32), toByteOffset: 15, as: UInt32.self)
            unsafe text.storeBytes(of: digits[2], toByteOffset: 20, as: UInt64.self)
            unsafe text.storeBytes(of: UInt32(truncatingIfNeeded: digits[2] >> 32), toByteOffset: 25, as: UInt32.self)
            unsafe text.storeBytes(of: digits[3], toByteOffset: 29, as: UInt64.self)
            for dash in 0..<4 { unsafe start[9 + 5 * dash] = UInt8(ascii: "-") }
            unsafe start[37] = UInt8(ascii: "\"")
            return 38
        }
    }

    /// Writes any value.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .double(let value): double(value)
        case .string(let text): string(text)
        case .array(let elements):
            array { json in
                for element in elements { json.value(element) }
            }
        case .object(let object):
            self.object { json in
                for member in object.members {
                    json.key(escaping: member.key)
                    json.value(member.value)
                }
            }
        }
    }

    /// Writes a value that is JSON already. It MUST be valid.
    @inlinable
    public mutating func rawJSON(utf8 text: Span<UInt8>) {
        beginValue()
        output.append(text)
    }

    /// Writes a string that needs no escaping.
    @inlinable
    public mutating func string(unescaped text: Span<UInt8>) {
        unsafe appendValue(upTo: text.count + 2) { start in
            unsafe start[0] = UInt8(ascii: "\"")
            unsafe text.withUnsafeBufferPointer { source in
                guard let first = source.baseAddress else { return }
                unsafe (start + 1).update(from: first, count: source.count)
            }
            unsafe start[text.count + 1] = UInt8(ascii: "\"")
            return text.count + 2
        }
    }

    /// Writes an ASCII string that needs no escaping. Each word contains eight bytes, the first in the lowest byte.
    @inlinable
    public mutating func string<let count: Int>(packed words: InlineArray<count, UInt64>) {
        unsafe appendValue(upTo: 8 * count + 2) { start in
            let text = UnsafeMutableRawPointer(start)
            unsafe start[0] = UInt8(ascii: "\"")
            for index in words.indices {
                unsafe text.storeBytes(of: words[index].littleEndian, toByteOffset: 1 + 8 * index, as: UInt64.self)
            }
            unsafe start[8 * count + 1] = UInt8(ascii: "\"")
            return 8 * count + 2
        }
    }

    // MARK: Bytes

    /// Lends memory for a value of at most `count` bytes, after its separator. The closure returns the number of bytes
    /// that it has written.
    @inlinable @inline(__always)
    mutating func appendValue(upTo count: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) {
        let separator = needsComma ? 1 : 0
        needsComma = true
        unsafe output.append(upTo: count + 1) { start in
            unsafe start[0] = UInt8(ascii: ",")
            return separator + (unsafe body(start + separator))
        }
    }

    @inlinable
    mutating func beginValue() {
        if needsComma { output.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    @inlinable
    mutating func open(_ bracket: UInt8) {
        beginValue()
        output.append(bracket)
        needsComma = false
    }

    @inlinable
    mutating func close(_ bracket: UInt8) {
        output.append(bracket)
        needsComma = true
    }

    @usableFromInline
    mutating func appendEscape(of byte: UInt8) {
        output.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
        case 0x08: output.append(UInt8(ascii: "b"))
        case 0x09: output.append(UInt8(ascii: "t"))
        case 0x0A: output.append(UInt8(ascii: "n"))
        case 0x0C: output.append(UInt8(ascii: "f"))
        case 0x0D: output.append(UInt8(ascii: "r"))
        default:
            output.append("u00")
            output.append(UInt8(ascii: "0") + byte >> 4)
            let nibble = byte & 15
            output.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
        }
    }
}

extension Span<UInt8> {
    /// Returns the index of the first quotation mark, backslash or control character at or after `start`; `count` if
    /// there is none. It tests eight bytes at a time: a subtraction that borrows marks a match.
    @inlinable
    func indexOfByteToEscape(from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index + 8 <= count {
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: index, as: UInt64.self)
            let quotes = word ^ (ones &* 0x22)
            let backslashes = word ^ (ones &* 0x5C)
            let matches =
                (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes | (word &- ones &* 0x20) & ~word
            if matches & (ones &* 0x80) != 0 { break }
            index += 8
        }
        while index < count {
            let byte = self[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            index += 1
        }
        return index
    }
}

/// Returns the thirty-two lower-case hexadecimal digits of two numbers, eight per word in (little-endian) memory order,
/// computed in parallel.
@inlinable
func hexadecimalDigits(_ high: UInt64, _ low: UInt64) -> SIMD4<UInt64> {
    let bytes = unsafe unsafeBitCast(SIMD2(high.bigEndian, low.bigEndian), to: SIMD16<UInt8>.self)
    let pairs = SIMD16<UInt16>(truncatingIfNeeded: bytes)
    // The values of two digits per pair, the first in the lower byte.
    let nibbles = ((pairs &>> 4) | (pairs &<< 8)) & 0x0F0F
    // Adding 6 to the value of a letter, 10 to 15, sets bit 4. In ASCII, `a` is 39 above the character after `9`.
    let letters = ((nibbles &+ 0x0606) &>> 4) & 0x0101
    let digits = nibbles &+ 0x3030 &+ letters &* 39
    return unsafe unsafeBitCast(digits, to: SIMD4<UInt64>.self)
}

extension JSONValue {
    /// The document as bytes.
    public var bytes: [UInt8] {
        JSONWriter.document { $0.value(self) }
    }
}

extension JSONValue: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
