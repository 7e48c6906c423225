/// Collects one line that ends in CRLF from input slices. Reads each byte once.
struct LineReader {
    enum Outcome {
        /// The input ended before the line did.
        case needsMoreData
        /// The line is complete.
        case line
        case tooLong, illegal
    }

    private var hasReadReturn = false

    /// Whether the CR of the line end was read, but not its LF.
    var isInsideLineEnd: Bool { hasReadReturn }

    /// Appends the line without its line end to `line`, at most `limit` bytes in this call.
    ///
    /// A CR without LF, an LF without CR and control bytes other than HTAB are illegal (RFC 9112 §2.2, RFC 9110 §5.5):
    /// some servers repair them, and two interpretations of one message allow request smuggling.
    mutating func read(
        _ input: Span<UInt8>, _ position: inout Int, into line: inout [UInt8], limit: Int
    ) -> Outcome {
        guard position < input.count else { return .needsMoreData }
        if !hasReadReturn {
            let searchEnd = position + min(input.count - position, limit)
            let end = input.firstControlIndex(from: position, to: searchEnd)
            line.append(input.extracting(position..<end))
            position = end
            guard end < input.count else { return .needsMoreData }
            guard input[end] == .carriageReturn else { return input[end].isControl ? .illegal : .tooLong }
            hasReadReturn = true
            position += 1
        }
        guard position < input.count else { return .needsMoreData }
        guard input[position] == .lineFeed else { return .illegal }
        position += 1
        hasReadReturn = false
        return .line
    }
}
