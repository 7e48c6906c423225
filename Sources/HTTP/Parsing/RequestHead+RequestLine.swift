extension RequestHead {
    /// Parses `method SP target SP version` (RFC 9112 §3) from `bytes`.
    mutating func takeRequestLine() throws(HTTPRequestError) {
        let end = bytes.count
        var methodEnd = 0
        while methodEnd < end, bytes[methodEnd].isTokenByte { methodEnd += 1 }
        guard methodEnd > 0, methodEnd < end, bytes[methodEnd] == 0x20 else { throw .requestLineSyntax }

        let targetStart = methodEnd + 1
        var targetEnd = targetStart
        while targetEnd < end, bytes[targetEnd].isTargetByte { targetEnd += 1 }
        guard targetEnd > targetStart, targetEnd < end, bytes[targetEnd] == 0x20 else {
            // `GET /` without a version is HTTP/0.9: refused like any malformed line.
            throw targetEnd < end && bytes[targetEnd] != 0x20 ? .targetSyntax : .requestLineSyntax
        }
        try takeVersion(from: targetEnd + 1)
        targetRange = ByteRange(targetStart, targetEnd)

        guard let known = Method(bytes.span.extracting(0..<methodEnd)) else { throw .unknownMethod }
        method = known
        try takeTarget()
    }

    /// Parses `HTTP/` DIGIT `.` DIGIT (RFC 9112 §2.3). A later minor version is treated as 1.1 (RFC 9110 §2.5).
    private mutating func takeVersion(from start: Int) throws(HTTPRequestError) {
        guard bytes.count - start == 8, bytes.span.extracting(start..<start + 5).equals("HTTP/"),
            bytes[start + 5].isDigit, bytes[start + 6] == UInt8(ascii: "."), bytes[start + 7].isDigit
        else { throw .requestLineSyntax }
        guard bytes[start + 5] == UInt8(ascii: "1") else { throw .versionNotSupported }
        if bytes[start + 7] != UInt8(ascii: "0") { flags.insert(.http11) }
    }

    /// Parses the target's form (RFC 9112 §3.2). The authority form is only for CONNECT, which is not implemented.
    private mutating func takeTarget() throws(HTTPRequestError) {
        var start = targetRange.indices.lowerBound
        let end = targetRange.indices.upperBound
        if bytes[start] == UInt8(ascii: "*"), end - start == 1 {
            guard method == .options else { throw .targetSyntax }
            flags.insert(.asteriskTarget)
            return
        }
        if bytes[start] != UInt8(ascii: "/") {
            start = try authorityEnd(from: start, to: end)
        }
        var pathEnd = start
        while pathEnd < end, bytes[pathEnd] != UInt8(ascii: "?") { pathEnd += 1 }
        if pathEnd == start, method == .options, pathEnd == end {
            flags.insert(.asteriskTarget)  // absolute form without a path: RFC 9112 §3.2.4
            return
        }
        try takePath(from: start, to: pathEnd)
        try takeQuery(from: min(pathEnd + 1, end), to: end)
    }

    /// Returns the end of `http://authority` or `https://authority` in an absolute-form target (RFC 9112 §3.2.2).
    private func authorityEnd(from start: Int, to end: Int) throws(HTTPRequestError) -> Int {
        var index = start
        for scheme in ["http://", "https://"] as [StaticString] {
            let stop = start + scheme.utf8CodeUnitCount
            if stop <= end, bytes.span.extracting(start..<stop).equalsIgnoringCase(scheme) { index = stop }
        }
        guard index > start else { throw .targetSyntax }
        let authorityStart = index
        while index < end, bytes[index] != UInt8(ascii: "/"), bytes[index] != UInt8(ascii: "?") { index += 1 }
        // User information in an http target is an error (RFC 9110 §4.2.4); a host has no "@".
        guard bytes.span.extracting(authorityStart..<index).isHostWithOptionalPort else { throw .targetSyntax }
        return index
    }

    private mutating func takePath(from start: Int, to end: Int) throws(HTTPRequestError) {
        var index = start
        while index < end {
            while index < end, bytes[index] == UInt8(ascii: "/") { index += 1 }
            let segmentStart = index
            var isEncoded = false
            while index < end, bytes[index] != UInt8(ascii: "/") {
                if bytes[index] == UInt8(ascii: "%") { isEncoded = true }
                index += 1
            }
            guard segmentStart < index else { continue }
            ranges.append(isEncoded ? try decodeSegment(segmentStart, index) : ByteRange(segmentStart, index))
            segmentCount += 1
        }
    }

    /// Appends the decoded text of a segment to `bytes` and returns its range.
    private mutating func decodeSegment(_ start: Int, _ end: Int) throws(HTTPRequestError) -> ByteRange {
        var decoded: [UInt8] = []
        guard bytes.span.extracting(start..<end).appendPercentDecoded(to: &decoded), decoded.span.isUTF8WithoutNUL
        else { throw .targetSyntax }
        bytes.append(decoded.span)
        return ByteRange(bytes.count - decoded.count, bytes.count)
    }

    /// Checks that the query can be decoded, and keeps its range.
    private mutating func takeQuery(from start: Int, to end: Int) throws(HTTPRequestError) {
        queryRange = ByteRange(start, end)
        let query = bytes.span.extracting(start..<end)
        var isEncoded = false
        for index in query.indices where query[index] == UInt8(ascii: "%") {
            isEncoded = true
            break
        }
        guard isEncoded else { return }
        var decoded: [UInt8] = []
        guard query.appendPercentDecoded(to: &decoded), decoded.span.isUTF8WithoutNUL else { throw .targetSyntax }
    }
}

extension Span where Element == UInt8 {
    /// Whether this is `uri-host [ ":" port ]` with a non-empty host (RFC 9110 §4.2.1, §7.2; RFC 3986 §3.2.2).
    var isHostWithOptionalPort: Bool {
        guard !isEmpty else { return false }
        var index = 0
        if self[0] == UInt8(ascii: "[") {
            index = 1
            while index < count,
                self[index].hexadecimal != nil || self[index] == UInt8(ascii: ":")
                    || self[index] == UInt8(ascii: ".")
            { index += 1 }
            guard index > 2, index < count, self[index] == UInt8(ascii: "]") else { return false }
            index += 1
        } else {
            while index < count, self[index] != UInt8(ascii: ":") {
                if self[index] == UInt8(ascii: "%") {
                    guard index + 2 < count, self[index + 1].hexadecimal != nil, self[index + 2].hexadecimal != nil
                    else { return false }
                    index += 3
                } else {
                    guard self[index].isHostNameByte else { return false }
                    index += 1
                }
            }
            guard index > 0 else { return false }
        }
        guard index < count else { return true }
        guard self[index] == UInt8(ascii: ":"), count - index <= 6 else { return false }
        var port = 0
        for digit in extracting(index + 1..<count).indices {
            let byte = self[index + 1 + digit]
            guard byte.isDigit else { return false }
            port = port * 10 + Int(byte &- 0x30)
        }
        return port <= 65_535
    }
}
