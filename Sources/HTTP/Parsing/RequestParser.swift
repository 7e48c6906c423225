/// An incremental HTTP/1.1 request parser without I/O: it takes slices of input of any size and returns heads, content
/// and request ends.
///
/// Guarantees: the result does not depend on how the input is sliced; each byte is read a fixed number of times; what
/// RFC 9112 calls malformed or ambiguous is refused; after an error the parser takes no more input.
public struct RequestParser: Sendable {
    /// The result of `advance`.
    public enum Step: Sendable {
        /// All of the input was read; more is needed.
        case needsMoreData
        /// The header section is complete. `setBodyLimit` may be called before the next step.
        case head(RequestHead)
        /// This range of the input is content.
        case body(Range<Int>)
        /// The request is complete; the next byte belongs to the next request.
        case end
    }

    private enum State: Sendable {
        case start(blankLines: Int)
        case requestLine
        case fields
        case bodyBegins(RequestHead.Framing)
        case fixedLength(left: Int)
        case chunked
        case ended
        case failed(HTTPRequestError)
    }

    public let limits: Limits
    private var state = State.start(blankLines: 0)
    private var lineReader = LineReader()
    private var head = RequestHead()
    private var lineStart = 0
    private var headSize = 0
    private var bodyLimit: Int
    /// The `Origin` field of a refused head, if it came before the error.
    private(set) var refusedOrigin: String?
    private var chunks: ChunkedContent

    public init(limits: Limits = Limits()) {
        self.limits = limits
        bodyLimit = limits.maxBodyBytes
        chunks = ChunkedContent(limits: limits)
    }

    /// Sets the content limit of the request whose head was just returned, and refuses a larger declared length.
    public mutating func setBodyLimit(_ limit: Int) throws(HTTPRequestError) {
        bodyLimit = limit
        if case .bodyBegins(.length(let length)) = state, length > limit { throw fail(.bodyTooLarge) }
    }

    /// Takes bytes of `input` from `position` on, up to the next step.
    public mutating func advance(_ input: Span<UInt8>, at position: inout Int) throws(HTTPRequestError) -> Step {
        while true {
            switch state {
            case .start(let blankLines):
                guard position < input.count else { return .needsMoreData }
                try takeStart(input, &position, blankLines)
            case .requestLine:
                guard try takeRequestLine(input, &position) else { return .needsMoreData }
            case .fields:
                guard try takeFieldLine(input, &position) else { return .needsMoreData }
                if case .bodyBegins = state { return .head(takeHead()) }
            case .bodyBegins(let framing):
                try beginBody(framing)
            case .fixedLength(let left):
                if left == 0 { state = .ended; continue }
                guard position < input.count else { return .needsMoreData }
                let end = position + min(left, input.count - position)
                defer { position = end }
                state = .fixedLength(left: left - (end - position))
                return .body(position..<end)
            case .chunked:
                let piece: ChunkedContent.Piece
                do throws(HTTPRequestError) { piece = try chunks.advance(input, &position) } catch { throw fail(error) }
                switch piece {
                case .needsMoreData: return .needsMoreData
                case .data(let range): return .body(range)
                case .end: state = .ended
                }
            case .ended:
                state = .start(blankLines: 0)
                return .end
            case .failed(let fault):
                throw fault
            }
        }
    }

    // MARK: Steps

    /// Skips up to four empty lines before a request line (RFC 9112 §2.2).
    private mutating func takeStart(
        _ input: Span<UInt8>, _ position: inout Int, _ blankLines: Int
    ) throws(HTTPRequestError) {
        if input[position] == .carriageReturn || lineReader.isInsideLineEnd {
            switch lineReader.read(input, &position, into: &head.bytes, limit: 0) {
            case .needsMoreData: return
            case .line where blankLines < 4: state = .start(blankLines: blankLines + 1)
            default: throw fail(.requestLineSyntax)
            }
        } else {
            // A method is a token: a TLS hello or other noise is refused at its first byte.
            guard input[position].isTokenByte else { throw fail(.requestLineSyntax) }
            head.bytes.reserveCapacity(min(input.count - position, limits.maxHeadBytes))
            head.ranges.reserveCapacity(16)
            state = .requestLine
        }
    }

    /// Reads the request line. Returns false if more input is needed.
    private mutating func takeRequestLine(_ input: Span<UInt8>, _ position: inout Int) throws(HTTPRequestError) -> Bool
    {
        let limit = limits.maxRequestLineBytes - head.bytes.count
        switch lineReader.read(input, &position, into: &head.bytes, limit: limit) {
        case .needsMoreData: return false
        case .tooLong: throw fail(.requestLineTooLong)
        case .illegal: throw fail(.requestLineSyntax)
        case .line: break
        }
        headSize = head.bytes.count + 2
        do throws(HTTPRequestError) { try head.takeRequestLine() } catch { throw fail(error) }
        lineStart = head.bytes.count
        state = .fields
        return true
    }

    /// Reads a header field line, or the empty line after the last one. Returns false if more input is needed.
    private mutating func takeFieldLine(_ input: Span<UInt8>, _ position: inout Int) throws(HTTPRequestError) -> Bool {
        let lineLength = head.bytes.count - lineStart
        // The limit includes the two bytes of the line end, which are not stored.
        let limit = max(0, limits.maxHeadBytes - headSize - 2 - lineLength)
        switch lineReader.read(input, &position, into: &head.bytes, limit: limit) {
        case .needsMoreData: return false
        case .tooLong: throw fail(.headTooLarge)
        case .illegal: throw fail(.fieldSyntax)
        case .line: break
        }
        headSize += head.bytes.count - lineStart + 2
        do throws(HTTPRequestError) {
            if head.bytes.count == lineStart {
                try head.finish()
                state = .bodyBegins(head.framing)
            } else {
                guard head.fieldCount < limits.maxFields else { throw HTTPRequestError.tooManyFields }
                try head.takeField(from: lineStart)
            }
        } catch {
            throw fail(error)
        }
        lineStart = head.bytes.count
        return true
    }

    private mutating func takeHead() -> RequestHead {
        bodyLimit = limits.maxBodyBytes
        lineStart = 0
        headSize = 0
        let complete = head
        head = RequestHead()
        return complete
    }

    private mutating func beginBody(_ framing: RequestHead.Framing) throws(HTTPRequestError) {
        switch framing {
        case .none: state = .ended
        case .length(let length):
            guard length <= bodyLimit else { throw fail(.bodyTooLarge) }
            state = .fixedLength(left: length)
        case .chunked:
            chunks = ChunkedContent(limits: limits, contentLimit: bodyLimit)
            state = .chunked
        }
    }

    /// Ends parsing for good, and returns the error for the caller to throw.
    private mutating func fail(_ fault: HTTPRequestError) -> HTTPRequestError {
        if case .fields = state { refusedOrigin = head.headers["origin"] }
        state = .failed(fault)
        head = RequestHead()
        return fault
    }
}
