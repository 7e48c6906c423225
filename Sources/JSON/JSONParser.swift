extension JSONValue {
    /// Limits on the size and nesting of a document.
    public struct Limits: Sendable {
        public var maxBytes: Int
        public var maxDepth: Int

        public init(maxBytes: Int = 16 << 20, maxDepth: Int = 64) {
            self.maxBytes = maxBytes
            self.maxDepth = maxDepth
        }
    }

    /// Parses one complete RFC 8259 document, strictly: UTF-8 without byte order mark, unique names within an object,
    /// paired surrogates, numbers in the range of a double. Time and memory are linear in the number of bytes.
    public init(parsing bytes: Span<UInt8>, limits: Limits = Limits()) throws(JSONError) {
        guard bytes.count <= limits.maxBytes else { throw JSONError(.tooLarge, at: limits.maxBytes) }
        var parser = JSONParser(depthLimit: limits.maxDepth)
        self = try parser.parseDocument(bytes)
    }

    /// Parses one document from an array of bytes.
    public init(parsing bytes: [UInt8], limits: Limits = Limits()) throws(JSONError) {
        try self.init(parsing: bytes.span, limits: limits)
    }

    /// Parses one document from text.
    public init(parsing text: String, limits: Limits = Limits()) throws(JSONError) {
        try self.init(parsing: Array(text.utf8), limits: limits)
    }
}

/// A recursive-descent parser with a depth limit.
struct JSONParser {
    private let depthLimit: Int
    private var position = 0

    /// The maximum length of a number, in bytes. It admits the exact decimal expansion of any double, and keeps
    /// conversion fast.
    private static let numberLengthLimit = 1_100

    init(depthLimit: Int) { self.depthLimit = depthLimit }

    mutating func parseDocument(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        skipSpace(bytes)
        let value = try parseValue(bytes, depth: 0)
        skipSpace(bytes)
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
        return value
    }

    private mutating func parseValue(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSONValue {
        switch try peek(bytes) {
        case UInt8(ascii: "{"): return .object(try parseObject(bytes, depth: depth + 1))
        case UInt8(ascii: "["): return .array(try parseArray(bytes, depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try parseString(bytes))
        case UInt8(ascii: "t"): return try parseLiteral("true", .bool(true), bytes)
        case UInt8(ascii: "f"): return try parseLiteral("false", .bool(false), bytes)
        case UInt8(ascii: "n"): return try parseLiteral("null", .null, bytes)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber(bytes)
        default: throw JSONError(.unexpectedByte, at: position)
        }
    }

    // MARK: Containers

    private mutating func parseObject(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSONObject {
        guard depth <= depthLimit else { throw JSONError(.tooDeep, at: position) }
        position += 1
        skipSpace(bytes)
        var object = JSONObject()
        if take(UInt8(ascii: "}"), bytes) { return object }
        while true {
            let start = position
            guard try peek(bytes) == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: position) }
            let key = try parseString(bytes)
            skipSpace(bytes)
            try expect(UInt8(ascii: ":"), bytes)
            skipSpace(bytes)
            let value = try parseValue(bytes, depth: depth)
            guard object.insert(value, for: key) else { throw JSONError(.duplicateKey, at: start) }
            skipSpace(bytes)
            if take(UInt8(ascii: "}"), bytes) { return object }
            try expect(UInt8(ascii: ","), bytes)
            skipSpace(bytes)
        }
    }

    private mutating func parseArray(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth <= depthLimit else { throw JSONError(.tooDeep, at: position) }
        position += 1
        skipSpace(bytes)
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]"), bytes) { return elements }
        while true {
            elements.append(try parseValue(bytes, depth: depth))
            skipSpace(bytes)
            if take(UInt8(ascii: "]"), bytes) { return elements }
            try expect(UInt8(ascii: ","), bytes)
            skipSpace(bytes)
        }
    }

    // MARK: Strings

    private mutating func parseString(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        position += 1
        let start = position
        var hasEscapes = false
        scan: while true {
            switch try peek(bytes) {
            case UInt8(ascii: "\""): break scan
            case UInt8(ascii: "\\"):
                hasEscapes = true
                position += 2
            case ..<0x20: throw JSONError(.controlCharacter, at: position)
            default: position += 1
            }
        }
        let end = position
        position += 1
        let raw = bytes.extracting(start..<end)
        let text: UTF8Span
        do {
            text = try UTF8Span(validating: raw)
        } catch {
            throw JSONError(.invalidUTF8, at: start + error.byteOffsets.lowerBound)
        }
        return hasEscapes ? try unescape(raw, start: start) : String(copying: text)
    }

    /// Returns the string with its escapes replaced.
    /// - Parameter start: the offset of `raw` in the document, for errors.
    private func unescape(_ raw: Span<UInt8>, start: Int) throws(JSONError) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(raw.count)
        var index = 0
        while index < raw.count {
            guard raw[index] == UInt8(ascii: "\\") else {
                output.append(raw[index])
                index += 1
                continue
            }
            // The scan skipped every escaped byte, so a byte follows each backslash.
            switch raw[index + 1] {
            case UInt8(ascii: "\""): output.append(UInt8(ascii: "\""))
            case UInt8(ascii: "\\"): output.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "/"): output.append(UInt8(ascii: "/"))
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "f"): output.append(0x0C)
            case UInt8(ascii: "n"): output.append(0x0A)
            case UInt8(ascii: "r"): output.append(0x0D)
            case UInt8(ascii: "t"): output.append(0x09)
            case UInt8(ascii: "u"):
                let (scalar, length) = try parseUnicodeEscape(raw, at: index, start: start)
                output.append(contentsOf: String(scalar).utf8)
                index += length
                continue
            default: throw JSONError(.invalidEscape, at: start + index)
            }
            index += 2
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Parses `\uXXXX`, or a surrogate pair for a scalar above U+FFFF (RFC 8259, section 7). The length is the number
    /// of bytes of the escape.
    private func parseUnicodeEscape(
        _ raw: Span<UInt8>, at index: Int, start: Int
    ) throws(JSONError) -> (scalar: Unicode.Scalar, length: Int) {
        guard let first = parseCodeUnit(raw, at: index) else { throw JSONError(.invalidEscape, at: start + index) }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        guard first < 0xDC00, let second = parseCodeUnit(raw, at: index + 6), (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw JSONError(.loneSurrogate, at: start + index) }
        return (scalar, 12)
    }

    /// Parses `\uXXXX`; nil if something else is at `index`.
    private func parseCodeUnit(_ raw: Span<UInt8>, at index: Int) -> UInt16? {
        guard index + 6 <= raw.count, raw[index] == UInt8(ascii: "\\"), raw[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        var unit: UInt16 = 0
        for digitIndex in index + 2..<index + 6 {
            let byte = raw[digitIndex]
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    // MARK: Numbers and literal names

    private mutating func parseNumber(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        let start = position
        let isNegative = take(UInt8(ascii: "-"), bytes)
        let firstDigit = position
        try skipDigits(bytes)
        if position - firstDigit > 1, bytes[firstDigit] == UInt8(ascii: "0") {
            throw JSONError(.invalidNumber, at: firstDigit)
        }
        let integerEnd = position
        if take(UInt8(ascii: "."), bytes) { try skipDigits(bytes) }
        if take(UInt8(ascii: "e"), bytes) || take(UInt8(ascii: "E"), bytes) {
            if !take(UInt8(ascii: "+"), bytes) { _ = take(UInt8(ascii: "-"), bytes) }
            try skipDigits(bytes)
        }
        if position == integerEnd, let integer = parseInteger(bytes, firstDigit..<integerEnd, isNegative: isNegative) {
            return .integer(integer)
        }
        guard position - start <= Self.numberLengthLimit else { throw JSONError(.numberOutOfRange, at: start) }
        var text = ""
        for offset in start..<position { text.unicodeScalars.append(Unicode.Scalar(bytes[offset])) }
        guard let value = Double(text), value.isFinite else { throw JSONError(.numberOutOfRange, at: start) }
        return .double(value)
    }

    /// Skips one or more digits.
    private mutating func skipDigits(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = position
        while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
            position += 1
        }
        guard position > start else {
            throw JSONError(position < bytes.count ? .invalidNumber : .unexpectedEnd, at: position)
        }
    }

    /// Parses digits; nil if the number does not fit into 64 bits. The value is computed as a negative number, because
    /// the smallest integer has no positive counterpart.
    private func parseInteger(_ bytes: Span<UInt8>, _ range: Range<Int>, isNegative: Bool) -> Int64? {
        guard range.count <= 19 else { return nil }
        var value: Int64 = 0
        for offset in range {
            let (product, productOverflow) = value.multipliedReportingOverflow(by: 10)
            let (difference, overflow) = product.subtractingReportingOverflow(Int64(bytes[offset] - UInt8(ascii: "0")))
            if productOverflow || overflow { return nil }
            value = difference
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }

    private mutating func parseLiteral(
        _ name: StaticString, _ value: JSONValue, _ bytes: Span<UInt8>
    ) throws(JSONError) -> JSONValue {
        for expected in name.description.utf8 {
            guard try peek(bytes) == expected else { throw JSONError(.unexpectedByte, at: position) }
            position += 1
        }
        return value
    }

    // MARK: Bytes

    private func peek(_ bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        return bytes[position]
    }

    /// Skips the byte if it is the next one, and returns whether it was.
    private mutating func take(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: UInt8, _ bytes: Span<UInt8>) throws(JSONError) {
        guard try peek(bytes) == byte else { throw JSONError(.unexpectedByte, at: position) }
        position += 1
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }
}
