/// Classes of bytes in the HTTP grammar (RFC 9110 §5.6.2, RFC 3986 §2).
extension UInt8 {
    /// Whether this is a tchar: a byte of a method or field name.
    @inline(__always) var isTokenByte: Bool {
        self < 64
            ? (0x03FF_6CFA_0000_0000 as UInt64) >> UInt64(self) & 1 == 1
            : self < 128 && (0x57FF_FFFF_C7FF_FFFE as UInt64) >> UInt64(self & 63) & 1 == 1
    }

    /// Whether this is a control byte other than HTAB. Lines end with CR; other control bytes are illegal.
    @inline(__always) var isControl: Bool { (self < 0x20 && self != 0x09) || self == 0x7F }
    @inline(__always) var isBlank: Bool { self == 0x20 || self == 0x09 }
    @inline(__always) var isDigit: Bool { self &- 0x30 < 10 }
    @inline(__always) var isUpper: Bool { self &- 0x41 < 26 }
    @inline(__always) var lowercased: UInt8 { isUpper ? self | 0x20 : self }

    /// Whether this may be a byte of a request target: visible ASCII except `#` (RFC 9112 §3.2).
    @inline(__always) var isTargetByte: Bool { self > 0x20 && self < 0x7F && self != UInt8(ascii: "#") }

    /// Whether this is unreserved or one of sub-delims: a byte of a registered host name, except percent-encoding (RFC
    /// 3986 §3.2.2).
    var isHostNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
            true
        default: false
        }
    }

    /// The value of a hexadecimal digit of either case; nil for any other byte.
    @inline(__always) var hexadecimal: UInt8? {
        switch self {
        case 0x30...0x39: self &- 0x30
        case 0x41...0x46: self &- 0x37
        case 0x61...0x66: self &- 0x57
        default: nil
        }
    }

    static let carriageReturn: UInt8 = 0x0D
    static let lineFeed: UInt8 = 0x0A
}

extension String {
    /// Compares with a lower-case text, ignoring ASCII case.
    ///
    /// `utf8.span` is not used: optimised Swift 6.3 code may let the span of a short string outlive the string.
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        utf8.count == text.utf8CodeUnitCount && Array(utf8).span.equalsIgnoringCase(text)
    }
}

extension Span where Element == UInt8 {
    /// Returns the index of the first control byte in `start..<end`, or `end`. It compares eight bytes at a time while
    /// none of them is below 0x20 or equal to 0x7F.
    func firstControlIndex(from start: Int, to end: Int) -> Int {
        precondition(start >= 0 && end <= count)
        var index = start
        unsafe withUnsafeBytes { bytes in
            while end - index >= 8 {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let deleteDifference = word ^ 0x7F7F_7F7F_7F7F_7F7F
                let isLow = (word &- 0x2020_2020_2020_2020) & ~word
                let isDelete = (deleteDifference &- 0x0101_0101_0101_0101) & ~deleteDifference
                guard (isLow | isDelete) & 0x8080_8080_8080_8080 == 0 else { break }
                index += 8
            }
        }
        while index < end, !self[index].isControl { index += 1 }
        return index
    }

    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { other in
            for index in indices where unsafe self[index] != other[index] { return false }
            return true
        }
    }

    func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }

    /// Compares with a lower-case text, ignoring ASCII case.
    func equalsIgnoringCase(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { other in
            for index in indices where unsafe self[index].lowercased != other[index] { return false }
            return true
        }
    }

    /// Returns the range without leading and trailing spaces and tabs.
    func trimmedRange() -> Range<Int> {
        var lower = 0
        var upper = count
        while lower < upper, self[lower].isBlank { lower += 1 }
        while upper > lower, self[upper - 1].isBlank { upper -= 1 }
        return lower..<upper
    }

    /// Calls `body` with each element of a comma-separated list, trimmed. Empty elements are skipped (RFC 9110 §5.6.1).
    /// A comma in a quoted string also ends an element.
    func forEachListElement(_ body: (Span<UInt8>) -> Void) {
        var start = 0
        while start <= count {
            var end = start
            while end < count, self[end] != UInt8(ascii: ",") { end += 1 }
            let element = extracting(start..<end)
            let range = element.trimmedRange()
            if !range.isEmpty { body(element.extracting(range)) }
            start = end + 1
        }
    }
}

extension Array where Element == UInt8 {
    @inline(__always) mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    @inline(__always) mutating func append(_ text: String) { append(contentsOf: text.utf8) }

    @inline(__always) mutating func append(fixed text: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension String {
    /// Decodes UTF-8; invalid sequences become U+FFFD.
    init(lossy bytes: Span<UInt8>) {
        self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
