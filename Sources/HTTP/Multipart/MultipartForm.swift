/// The parts of a multipart/form-data body (RFC 7578), as ranges of the body: nothing of their content is copied.
///
/// Each byte of the body is read a fixed number of times. What RFC 2046 calls malformed is refused, not repaired.
public struct MultipartForm: Sendable, Hashable {
    /// Limits for one body. The body itself has the limit of its route.
    public struct Limits: Sendable, Hashable {
        public var maxParts = 16
        /// Bytes of one part's header section, including line ends.
        public var maxPartHeadBytes = 4 << 10

        public init() {}
    }

    /// One field of the form.
    public struct Part: Sendable, Hashable {
        public var name: String
        /// The file name as the client gave it; nil if it gave none. It may hold a path, and any characters except
        /// ASCII control characters other than tabs.
        public var filename: String?
        /// The range of the content in the body.
        public var content: Range<Int>
    }

    public private(set) var parts: [Part] = []

    public init(
        parsing body: Span<UInt8>, _ boundary: MultipartBoundary, limits: Limits = Limits()
    ) throws(MultipartError) {
        let delimiter = [UInt8]("\r\n--".utf8) + boundary.bytes
        // Bytes before the first delimiter and after the last are ignored (RFC 2046 §5.1.1). The first one needs no
        // line end before it.
        let first = delimiter[2...]
        var position = 0
        if body.count >= first.count, body.extracting(0..<first.count).equals(first.span) {
            position = first.count
        } else {
            guard let start = body.firstIndex(of: delimiter.span, from: 0) else { throw .missingDelimiter }
            position = start + delimiter.count
        }
        while try !body.readDelimiterEnd(at: &position) {
            guard parts.count < limits.maxParts else { throw .tooManyParts }
            let head = try PartHead(body, &position, limit: limits.maxPartHeadBytes)
            guard let end = body.firstDelimiter(delimiter.span, afterHeadEndingAt: position) else {
                throw .missingDelimiter
            }
            let content = position..<max(position, end)
            guard head.declaredLength == nil || head.declaredLength == content.count else { throw .wrongLength }
            parts.append(Part(name: head.name, filename: head.filename, content: content))
            position = end + delimiter.count
        }
    }
}

/// The fields of the header section of a part.
private struct PartHead {
    var name = ""
    var filename: String?
    /// The value of Content-Length; nil if the part lacks the field.
    var declaredLength: Int?

    /// Reads the fields from the end of a delimiter's line to the empty line.
    init(_ body: Span<UInt8>, _ position: inout Int, limit: Int) throws(MultipartError) {
        let end = position + min(body.count - position, limit)
        var hasName = false
        while true {
            let start = position
            while position < end, body[position] != .carriageReturn {
                guard !body[position].isControl else { throw .headSyntax }
                position += 1
            }
            guard position + 1 < end else { throw end == body.count ? .missingDelimiter : .headTooLarge }
            guard body[position + 1] == .lineFeed else { throw .headSyntax }
            let line = body.extracting(start..<position)
            position += 2
            if line.isEmpty { break }
            try readField(line, &hasName)
        }
        // RFC 7578 §4.2: each part MUST have a Content-Disposition with a name.
        guard hasName else { throw .headSyntax }
    }

    private mutating func readField(_ line: Span<UInt8>, _ hasName: inout Bool) throws(MultipartError) {
        var colon = 0
        while colon < line.count, line[colon].isTokenByte { colon += 1 }
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else { throw .headSyntax }
        let field = line.extracting(0..<colon)
        let rest = line.extracting(colon + 1..<line.count)
        let value = rest.extracting(rest.trimmedRange())
        if field.equalsIgnoringCase("content-disposition") {
            guard !hasName else { throw .headSyntax }
            try readDisposition(value)
            hasName = true
        } else if field.equalsIgnoringCase("content-type") {
            // RFC 7578 §4.3 deprecates multipart/mixed.
            guard value.count < 10 || !value.extracting(0..<10).equalsIgnoringCase("multipart/") else { throw .nested }
        } else if field.equalsIgnoringCase("content-length") {
            // Content-Length is not a field of a part (RFC 7578 §4.8): the boundary ends the part. If one is sent
            // nevertheless, it must match.
            guard declaredLength == nil, let length = value.decimal else { throw .headSyntax }
            declaredLength = length
        }
    }

    /// Reads `form-data; name="…"; filename="…"` (RFC 7578 §4.2). `filename*` is ignored: that section forbids it.
    private mutating func readDisposition(_ value: Span<UInt8>) throws(MultipartError) {
        guard let end = FieldParameters.end(ofValue: value),
            value.extracting(0..<end).equalsIgnoringCase("form-data"),
            let parameters = FieldParameters(value, from: end), let nameBytes = parameters.uniqueValue("name"),
            let text = String(validating: nameBytes, as: UTF8.self)
        else { throw .headSyntax }
        name = text
        guard parameters.contains("filename") else { return }
        guard let bytes = parameters.uniqueValue("filename"), let text = String(validating: bytes, as: UTF8.self) else {
            throw .headSyntax
        }
        filename = text
    }
}

extension Span where Element == UInt8 {
    /// Reads the rest of a delimiter's line. Returns whether it is the last delimiter (RFC 2046 §5.1.1).
    fileprivate func readDelimiterEnd(at position: inout Int) throws(MultipartError) -> Bool {
        guard position + 1 < count else { throw .missingDelimiter }
        let isLast = self[position] == UInt8(ascii: "-") && self[position + 1] == UInt8(ascii: "-")
        if isLast { position += 2 }
        while position < count, self[position].isBlank { position += 1 }
        if isLast, position == count { return true }
        guard position + 1 < count else { throw .missingDelimiter }
        guard self[position] == .carriageReturn, self[position + 1] == .lineFeed else { throw .delimiterSyntax }
        position += 2
        return isLast
    }

    /// Returns the index at which the delimiter after a part begins; nil without one. In a part without content, the
    /// last line end of the head may also be the first of the delimiter: the delimiter then begins before `start`.
    fileprivate func firstDelimiter(_ delimiter: Span<UInt8>, afterHeadEndingAt start: Int) -> Int? {
        firstIndex(of: delimiter, from: start - 2)
    }

    /// Returns the index of the first occurrence of `text`; nil without one. The text MUST begin with CR and have no
    /// other CR.
    fileprivate func firstIndex(of text: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while let found = firstIndex(of: .carriageReturn, from: index), count - found >= text.count {
            if extracting(found..<found + text.count).equals(text) { return found }
            index = found + 1
        }
        return nil
    }

    private func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        unsafe withUnsafeBufferPointer { bytes in
            unsafe bytes[start...].firstIndex(of: byte)
        }
    }

    /// The number in 1 to 18 ASCII digits; nil for anything else.
    fileprivate var decimal: Int? {
        guard (1...18).contains(count) else { return nil }
        var number = 0
        for index in indices {
            guard self[index].isDigit else { return nil }
            number = number * 10 + Int(self[index] & 0xF)
        }
        return number
    }
}
