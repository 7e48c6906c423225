/// Appends one JSON document to bytes, straight from the values, with commas where they belong.
///
/// Containers are opened and closed by closures, so they always match; inside an object each value follows a `key`.
/// Nothing here builds a string on the way, so a row of a table costs no allocation beyond the growing output.
public struct JSONWriter: Sendable {
    @usableFromInline var output: [UInt8]
    /// Whether a value stands before this place in its container.
    @usableFromInline var needsComma = false

    @inlinable
    public init(reserving capacity: Int = 256) {
        output = []
        output.reserveCapacity(capacity)
    }

    /// What was written so far.
    @inlinable public var bytes: [UInt8] { output }

    /// The finished document.
    @inlinable
    public consuming func finish() -> [UInt8] { output }

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

    /// The name of the next value. It is written as it stands: it MUST need no escaping.
    @inlinable
    public mutating func key(_ name: StaticString) {
        let count = name.utf8CodeUnitCount
        unsafe appendValue(upTo: count + 3) { place in
            unsafe place[0] = UInt8(ascii: "\"")
            unsafe (place + 1).update(from: name.utf8Start, count: count)
            unsafe place[count + 1] = UInt8(ascii: "\"")
            unsafe place[count + 2] = UInt8(ascii: ":")
            return count + 3
        }
        needsComma = false
    }

    /// A name that is known only when the program runs.
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
        append("null")
    }

    @inlinable
    public mutating func bool(_ value: Bool) {
        beginValue()
        append(value ? "true" : "false")
    }

    @inlinable
    public mutating func integer(_ value: some FixedWidthInteger & SignedInteger) {
        beginValue()
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "-"))
        var rest = UInt64(Int64(value).magnitude)
        var first = 20
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 { first -= 1 }
        append(digits.span.extracting(first..<20))
    }

    /// The shortest digits that read back as the same number; a whole number keeps its `.0`. JSON has no infinity and
    /// no NaN: either is written as null.
    public mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        output.append(contentsOf: value.description.utf8)
    }

    /// As `double`, but a whole number without `.0`.
    public mutating func number(_ value: Double) {
        if let whole = wholeNumber(value), whole.magnitude < 1 << 53 { integer(whole) } else { double(value) }
    }

    @inlinable
    public mutating func string(_ text: String) {
        // Not `text.utf8.span`: optimised, Swift 6.3 lets the span of a short string out of an optional outlive it.
        var text = text
        text.withUTF8 { bytes in unsafe string(utf8: Span(_unsafeElements: bytes)) }
    }

    /// A string given as its UTF-8 bytes, which MUST be valid (as PostgreSQL's text is).
    @inlinable
    public mutating func string(utf8 text: Span<UInt8>) {
        let separator = takeSeparator()
        output.append(addingCapacity: text.count + 3) { output in
            if separator { output.append(UInt8(ascii: ",")) }
            output.append(UInt8(ascii: "\""))
        }
        var runStart = 0
        for place in text.indices {
            let byte = text[place]
            if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
            append(text.extracting(runStart..<place))
            appendEscape(of: byte)
            runStart = place + 1
        }
        append(text.extracting(runStart..<text.count))
        output.append(UInt8(ascii: "\""))
    }

    /// A quoted lower-case UUID.
    @inlinable
    public mutating func uuid(high: UInt64, low: UInt64) {
        unsafe appendValue(upTo: 38) { place in
            unsafe place[0] = UInt8(ascii: "\"")
            let text = UnsafeMutableRawPointer(place)
            for part in 0..<8 {
                let dashes = max(0, min(part - 1, 4))
                let word = part < 4 ? high : low
                let digits = hexadecimal(UInt16(truncatingIfNeeded: word >> UInt64(48 - 16 * (part & 3))))
                unsafe text.storeBytes(of: digits.bigEndian, toByteOffset: 1 + 4 * part + dashes, as: UInt32.self)
            }
            for dash in 0..<4 { unsafe place[9 + 5 * dash] = UInt8(ascii: "-") }
            unsafe place[37] = UInt8(ascii: "\"")
            return 38
        }
    }

    /// Any value.
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

    /// A value whose finished JSON the closure appends itself.
    @inlinable
    public mutating func unescaped(_ append: (inout [UInt8]) -> Void) {
        beginValue()
        append(&output)
    }

    /// A value whose finished JSON is at hand.
    @inlinable
    public mutating func unescaped(utf8 text: Span<UInt8>) {
        beginValue()
        append(text)
    }

    /// The same for a value of a known greatest size, into space that is there already.
    @inlinable
    public mutating func unescaped(upTo count: Int, _ append: (inout OutputSpan<UInt8>) -> Void) {
        let separator = takeSeparator()
        output.append(addingCapacity: count + 1) { output in
            if separator { output.append(UInt8(ascii: ",")) }
            append(&output)
        }
    }

    // MARK: Pieces

    /// Whether the value about to be written needs a comma before it.
    @inlinable
    mutating func takeSeparator() -> Bool {
        defer { needsComma = true }
        return needsComma
    }

    /// The one place that writes through a pointer: lends room for `count` bytes behind the separator and keeps as many as
    /// the closure says it has written. The closure MUST stay within `count`.
    @inlinable
    mutating func appendValue(upTo count: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int) {
        let separator = takeSeparator() ? 1 : 0
        output.append(addingCapacity: count + 1) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
                guard var place = buffer.baseAddress else { return }
                unsafe place += initialized
                unsafe place[0] = UInt8(ascii: ",")
                let written = unsafe body(place + separator)
                precondition(written <= count)
                initialized += separator + written
            }
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

    @inlinable
    mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe output.append(contentsOf: bytes)
        }
    }

    @inlinable
    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { text in
            unsafe output.append(contentsOf: text)
        }
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
            output.append(contentsOf: "u00".utf8)
            output.append(UInt8(ascii: "0") + byte >> 4)
            let nibble = byte & 15
            output.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
        }
    }
}

/// The four lower-case hexadecimal digits of a number, first digit in the highest byte, all worked out at once.
@inlinable
func hexadecimal(_ number: UInt16) -> UInt32 {
    let number = UInt32(number)
    let nibbles = (number & 0xF000) << 12 | (number & 0x0F00) << 8 | (number & 0x00F0) << 4 | number & 0x000F
    // Six more than a digit's value carries into bit 4 for a letter; letters lie 39 further than digits would.
    let letters = (nibbles &+ 0x0606_0606) >> 4 & 0x0101_0101
    return nibbles &+ 0x3030_3030 &+ letters &* 39
}

extension JSONValue {
    /// The document as bytes.
    public var bytes: [UInt8] {
        var json = JSONWriter()
        json.value(self)
        return json.finish()
    }
}

extension JSONValue: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
