extension RequestHead {
    /// Parses the header field line from `start` to the end of `bytes` (RFC 9112 §5).
    mutating func takeField(from start: Int) throws(HTTPRequestError) {
        // A line that begins with a blank is obs-fold: refused (RFC 9112 §5.2).
        guard !bytes[start].isBlank else { throw .foldedField }
        guard let colon = Self.lowercaseName(&bytes, from: start) else { throw .fieldSyntax }
        let valueStart = colon + 1
        let trimmed = bytes.span.extracting(valueStart..<bytes.count).trimmedRange()
        ranges.append(ByteRange(start, colon))
        ranges.append(ByteRange(valueStart + trimmed.lowerBound, valueStart + trimmed.upperBound))
        let meaning = try interpretField(at: ranges.count - 2)
        flags.formUnion(meaning.flags)
        declaredLength = meaning.length
    }

    /// Lower-cases a field name in place and returns the index of its colon. Nil if the name is empty, has a byte that
    /// is no token byte, or is not directly followed by the colon (RFC 9112 §5.1).
    static func lowercaseName(_ line: inout [UInt8], from start: Int) -> Int? {
        var index = start
        while index < line.count, line[index].isTokenByte {
            line[index] = line[index].lowercased
            index += 1
        }
        guard index > start, index < line.count, line[index] == UInt8(ascii: ":") else { return nil }
        return index
    }

    /// Checks and interprets a field if it is Host, Expect, Connection, Content-Length or Transfer-Encoding.
    /// - Parameter index: the index of the field's name in `ranges`.
    /// - Returns: the flags that the field adds, and the Content-Length, which is unchanged by other fields.
    private func interpretField(at index: Int) throws(HTTPRequestError) -> (flags: Flags, length: Int) {
        let name = bytes.span.extracting(ranges[index].indices)
        let value = bytes.span.extracting(ranges[index + 1].indices)
        switch name.count {
        case 4 where name.equals("host"):
            guard !flags.contains(.host) else { throw .hostRepeated }
            guard value.isHostWithOptionalPort else { throw .hostSyntax }
            return (.host, declaredLength)
        case 6 where name.equals("expect"):
            guard value.equalsIgnoringCase("100-continue") else { throw .expectationUnknown }
            return (.expectsContinue, declaredLength)
        case 10 where name.equals("connection"):
            var connectionFlags: Flags = []
            value.forEachListElement { option in
                if option.equalsIgnoringCase("close") { connectionFlags.insert(.close) }
                if option.equalsIgnoringCase("keep-alive") { connectionFlags.insert(.keepAlive) }
            }
            return (connectionFlags, declaredLength)
        case 14 where name.equals("content-length"):
            guard !flags.contains(.contentLength) else { throw .lengthRepeated }
            return (.contentLength, try value.parseContentLength())
        case 17 where name.equals("transfer-encoding"):
            guard !flags.contains(.transferEncoding) else { throw .codingRepeated }
            try value.checkCodings()
            return (.transferEncoding, declaredLength)
        default: return ([], declaredLength)
        }
    }

    /// Makes the checks that need all fields, and sets the framing (RFC 9112 §3.2, §6.1, §6.3).
    mutating func finish() throws(HTTPRequestError) {
        if flags.contains(.transferEncoding) {
            guard flags.contains(.http11) else { throw .codingInOldVersion }
            guard !flags.contains(.contentLength) else { throw .lengthWithCoding }
            framing = .chunked
        } else if flags.contains(.contentLength), declaredLength > 0 {
            framing = .length(declaredLength)
        }
        guard flags.contains(.host) || !flags.contains(.http11) else { throw .hostMissing }
        // HTTP/1.0 has no expectations (RFC 9110 §10.1.1).
        if !flags.contains(.http11) { flags.remove(.expectsContinue) }
    }
}

extension Span where Element == UInt8 {
    /// Parses 1*DIGIT (RFC 9110 §8.6). A list of equal lengths is refused too.
    func parseContentLength() throws(HTTPRequestError) -> Int {
        guard !isEmpty else { throw .lengthSyntax }
        var length = 0
        var overflowed = false
        for index in indices {
            guard self[index].isDigit else { throw .lengthSyntax }
            let (tens, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(Int(self[index] &- 0x30))
            if overflow || carry { overflowed = true }
            length = overflowed ? 0 : sum
        }
        guard !overflowed else { throw .bodyTooLarge }
        return length
    }

    /// Throws an error unless the value is exactly `chunked`, in any case (RFC 9112 §6.1, §7).
    func checkCodings() throws(HTTPRequestError) {
        if equalsIgnoringCase("chunked") { return }
        var chunkedCount = 0
        var otherCount = 0
        var endsInChunked = false
        forEachListElement { coding in
            endsInChunked = coding.equalsIgnoringCase("chunked")
            if endsInChunked { chunkedCount += 1 } else { otherCount += 1 }
        }
        guard chunkedCount == 1, endsInChunked else { throw chunkedCount > 1 ? .codingRepeated : .codingSyntax }
        throw otherCount > 0 ? .codingUnknown : .codingSyntax
    }
}
