/// Reads content in the chunked transfer coding (RFC 9112 §7.1): sizes, data, trailers.
struct ChunkedContent: Sendable {
    /// The result of `advance`.
    enum Piece: Sendable {
        /// All of the input was read; more is needed.
        case needsMoreData
        /// This range of the input is content.
        case data(Range<Int>)
        /// The content and its trailers are complete.
        case end
    }

    /// The part to which the next byte must belong.
    private enum State: Sendable {
        /// A chunk size, of which `digits` were read.
        case size(digits: Int)
        case `extension`
        /// The LF after a chunk size and its extensions.
        case sizeEnd
        /// The data of a chunk, of which `left` bytes are still to come.
        case data(left: Int)
        /// The CR and the LF after the data of a chunk.
        case dataReturn, dataLineFeed
        case trailers
    }

    private let limits: Limits
    private var state = State.size(digits: 0)
    private var size = 0
    /// Bytes of content that are still allowed.
    private var remainingBytes: Int
    private var lineLength = 0
    private var remainingExtensionBytes: Int
    private var lineReader = LineReader()
    private var trailer: [UInt8] = []
    private var remainingTrailerBytes: Int
    private var trailerCount = 0

    init(limits: Limits, contentLimit: Int = 0) {
        self.limits = limits
        self.remainingBytes = contentLimit
        remainingExtensionBytes = limits.maxChunkLineBytes * 64
        remainingTrailerBytes = limits.maxHeadBytes
    }

    mutating func advance(_ input: Span<UInt8>, _ position: inout Int) throws(HTTPRequestError) -> Piece {
        while position < input.count {
            let byte = input[position]
            switch state {
            case .size(let digits):
                try takeSize(byte, digits)
                position += 1
            case .extension:
                try takeExtension(byte)
                position += 1
            case .sizeEnd:
                guard byte == .lineFeed else { throw .chunkSyntax }
                position += 1
                try beginChunk()
            case .data(let left):
                let end = position + min(left, input.count - position)
                defer { position = end }
                let rest = left - (end - position)
                state = rest == 0 ? .dataReturn : .data(left: rest)
                return .data(position..<end)
            case .dataReturn:
                guard byte == .carriageReturn else { throw .chunkSyntax }
                position += 1
                state = .dataLineFeed
            case .dataLineFeed:
                guard byte == .lineFeed else { throw .chunkSyntax }
                position += 1
                state = .size(digits: 0)
            case .trailers:
                if try takeTrailer(input, &position) { return .end }
            }
        }
        return .needsMoreData
    }

    /// Reads a digit of a chunk size, or the byte after the size. The size is 1*HEXDIG only: no sign, no `0x`, no
    /// space, and at most 16 digits.
    private mutating func takeSize(_ byte: UInt8, _ digits: Int) throws(HTTPRequestError) {
        if let digit = byte.hexadecimal {
            guard digits < 16 else { throw .chunkSyntax }
            // Above the limit the exact size does not matter; it only must not overflow.
            size = size > Int.max >> 5 ? Int.max : size << 4 | Int(digit)
            state = .size(digits: digits + 1)
            return
        }
        guard digits > 0 else { throw .chunkSyntax }
        lineLength = digits
        switch byte {
        case .carriageReturn: state = .sizeEnd
        case UInt8(ascii: ";"): state = .extension
        default: throw .chunkSyntax
        }
    }

    /// Skips chunk extensions (RFC 9112 §7.1.1), within a limit.
    private mutating func takeExtension(_ byte: UInt8) throws(HTTPRequestError) {
        lineLength += 1
        remainingExtensionBytes -= 1
        guard lineLength <= limits.maxChunkLineBytes, remainingExtensionBytes >= 0 else { throw .chunkSyntax }
        if byte == .carriageReturn {
            state = .sizeEnd
        } else if byte.isControl {
            throw .chunkSyntax
        }
    }

    private mutating func beginChunk() throws(HTTPRequestError) {
        guard size <= remainingBytes else { throw .bodyTooLarge }
        remainingBytes -= size
        state = size == 0 ? .trailers : .data(left: size)
        size = 0
    }

    /// Checks that trailer fields are well-formed and few; their values are ignored (RFC 9110 §6.5.1). Returns true at
    /// the end.
    private mutating func takeTrailer(_ input: Span<UInt8>, _ position: inout Int) throws(HTTPRequestError) -> Bool {
        switch lineReader.read(input, &position, into: &trailer, limit: remainingTrailerBytes - trailer.count) {
        case .needsMoreData: return false
        case .tooLong: throw .trailersTooLarge
        case .illegal: throw .trailerSyntax
        case .line: break
        }
        if trailer.isEmpty { return true }
        guard RequestHead.lowercaseName(&trailer, from: 0) != nil else { throw .trailerSyntax }
        trailerCount += 1
        guard trailerCount <= limits.maxFields else { throw .trailersTooLarge }
        remainingTrailerBytes = max(0, remainingTrailerBytes - trailer.count - 2)
        trailer.removeAll(keepingCapacity: true)
        return false
    }
}
