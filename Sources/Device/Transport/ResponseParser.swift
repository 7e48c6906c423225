import Domain

/// Parses one HTTP/1.1 response from its bytes as they arrive (RFC 9112), without a socket.
///
/// Heads may have 64 KiB and bodies 64 MiB. A response with ambiguous or invalid framing is refused.
struct ResponseParser {
    static let largestHead = 64 << 10
    static let largestBody = 64 << 20

    /// How the body ends.
    private enum Framing: Equatable {
        case length(Int)
        case chunked
        case close
    }

    private var buffer: [UInt8] = []
    private var head: (status: Int, fields: [(name: String, value: String)])?
    private var framing = Framing.close

    /// Parses more bytes.
    /// - Returns: the response, once it is complete.
    mutating func take(_ bytes: some Sequence<UInt8>) throws(TransportError) -> TransportResponse? {
        buffer.append(contentsOf: bytes)
        while head == nil {
            guard let end = headEnd() else {
                guard buffer.count <= Self.largestHead else { throw .garbled }
                return nil
            }
            try readHead(upTo: end)
        }
        guard buffer.count <= Self.largestBody + Self.largestHead else { throw .tooLarge }
        switch framing {
        case .length(let length):
            return buffer.count >= length ? response(Array(buffer.prefix(length))) : nil
        case .chunked: return try chunkedBody().map { response($0) }
        case .close: return nil
        }
    }

    /// Handles the end of the connection.
    func end() throws(TransportError) -> TransportResponse {
        guard head != nil, framing == .close else { throw .garbled }
        return response(buffer)
    }

    // MARK: Head

    /// The index of the empty line; lines end in CRLF.
    private func headEnd() -> Int? {
        guard buffer.count >= 4 else { return nil }
        let end: [UInt8] = [13, 10, 13, 10]
        for index in 0...(buffer.count - 4) where buffer[index] == 13 && buffer[index..<(index + 4)].elementsEqual(end)
        {
            return index + 4
        }
        return nil
    }

    private mutating func readHead(upTo end: Int) throws(TransportError) {
        guard end <= Self.largestHead, let text = String(validating: buffer[..<(end - 4)], as: UTF8.self) else {
            throw .garbled
        }
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        buffer.removeFirst(end)
        let status = try Self.status(lines[0])
        // An interim response precedes the final one.
        if (100..<200).contains(status) { return }
        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { throw .garbled }
            let value = line[line.index(after: colon)...].trimmingPrefix { $0 == " " || $0 == "\t" }
            fields.append((line[..<colon].lowercased(), String(value)))
        }
        head = (status, fields)
        framing = try Self.framing(status, fields)
    }

    private static func status(_ line: Substring) throws(TransportError) -> Int {
        let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0] == "HTTP/1.1" || parts[0] == "HTTP/1.0", parts[1].utf8.count == 3,
            let status = digits(parts[1]), status >= 100
        else { throw .garbled }
        return status
    }

    /// Section 6.3, in its order.
    private static func framing(
        _ status: Int, _ fields: [(name: String, value: String)]
    ) throws(TransportError) -> Framing {
        if status == 204 || status == 304 { return .length(0) }
        let (lengths, codings) = (
            Set(fields.filter { $0.name == "content-length" }.map(\.value)),
            fields.filter { $0.name == "transfer-encoding" }.map(\.value)
        )
        if let coding = codings.first {
            guard codings.count == 1, coding.lowercased() == "chunked", lengths.isEmpty else { throw .garbled }
            return .chunked
        }
        guard let length = lengths.first else { return .close }
        guard lengths.count == 1, let count = digits(length[...]) else { throw .garbled }
        guard count <= largestBody else { throw .tooLarge }
        return .length(count)
    }

    /// ASCII digits, 1 to 15 of them.
    private static func digits(_ text: Substring) -> Int? {
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return text.utf8.reduce(0) { $0 * 10 + Int($1 - 48) }
    }

    // MARK: Body

    /// The body from its chunks, once the last chunk and the trailer are there (section 7.1).
    private func chunkedBody() throws(TransportError) -> [UInt8]? {
        var (body, place): ([UInt8], Int) = ([], 0)
        while true {
            guard let line = line(from: place) else {
                guard buffer.count - place <= 1_024 else { throw .garbled }
                return nil
            }
            let size = buffer[place..<line.end].prefix { $0 != UInt8(ascii: ";") }
            guard (1...8).contains(size.count), !size.contains(where: { hexadecimalValue($0) == nil }) else {
                throw .garbled
            }
            let count = size.reduce(0) { $0 << 4 | Int(hexadecimalValue($1) ?? 0) }
            guard body.count + count <= Self.largestBody else { throw .tooLarge }
            place = line.next
            if count == 0 { return try isTrailerOver(from: place) ? body : nil }
            guard buffer.count >= place + count + 2 else { return nil }
            body += buffer[place..<(place + count)]
            place += count
            guard buffer[place] == 13, buffer[place + 1] == 10 else { throw .garbled }
            place += 2
        }
    }

    /// Trailer fields are skipped.
    private func isTrailerOver(from start: Int) throws(TransportError) -> Bool {
        var place = start
        while let line = line(from: place) {
            if line.end == place { return true }
            place = line.next
        }
        guard buffer.count - start <= Self.largestHead else { throw .garbled }
        return false
    }

    private func line(from start: Int) -> (end: Int, next: Int)? {
        guard start + 1 < buffer.count else { return nil }
        for index in start..<(buffer.count - 1) where buffer[index] == 13 && buffer[index + 1] == 10 {
            return (index, index + 2)
        }
        return nil
    }

    private func response(_ body: [UInt8]) -> TransportResponse {
        func field(_ name: String) -> String? { head?.fields.first { $0.name == name }?.value }
        return TransportResponse(
            status: head?.status ?? 0, body: body, retryAfter: field("retry-after").flatMap { Self.digits($0[...]) },
            date: field("date").flatMap { Timestamp(httpDate: $0) })
    }
}
