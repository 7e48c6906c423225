/// Collects one CRLF-ended line out of slices, looking at each byte once.
struct LineReader {
    enum Outcome { case more, line, tooLong, illegal }

    private var sawReturn = false

    /// A CR was taken whose LF is still to come.
    var isInsideLineEnd: Bool { sawReturn }

    /// Appends to `line` without its line end. `room` is how many bytes it may still take.
    ///
    /// A CR without its LF, a LF without its CR and every other control byte but HTAB are illegal
    /// (RFC 9112 §2.2, RFC 9110 §5.5): some peers repair them, and two readings of one message are a smuggling hole.
    mutating func read(
        _ input: Span<UInt8>, _ position: inout Int, into line: inout [UInt8], room: Int
    ) -> Outcome {
        guard position < input.count else { return .more }
        if !sawReturn {
            let bound = position + min(input.count - position, room)
            let end = input.firstControl(from: position, to: bound)
            line.append(input.extracting(position..<end))
            position = end
            guard end < input.count else { return .more }
            guard input[end] == .carriageReturn else { return input[end].isControl ? .illegal : .tooLong }
            sawReturn = true
            position += 1
        }
        guard position < input.count else { return .more }
        guard input[position] == .lineFeed else { return .illegal }
        position += 1
        sawReturn = false
        return .line
    }
}
