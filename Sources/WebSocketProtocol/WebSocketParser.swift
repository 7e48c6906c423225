/// Parses the frames of a peer (RFC 6455 §5). It takes input in slices, and returns one event for each frame.
///
/// A pure value. The result does not depend on how the input is sliced. A length is checked before memory is reserved
/// for it. After an error or a Close frame the parser MUST NOT be used again.
public struct WebSocketParser: Sendable {
    /// The sender of the frames.
    public enum Sender: Sendable {
        /// Its frames are masked.
        case client
        /// Its frames are not masked.
        case server
    }

    public enum Event: Hashable, Sendable {
        case needsMoreData
        /// A part of a message that is not its last.
        case fragment
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong
        /// The peer closes; nil if it gave no code.
        case close(WebSocketCloseCode?)
    }

    private enum Stage {
        case firstByte
        case lengthByte
        /// - Parameters: the number of bytes of the length field, and the number of those that are missing.
        case extendedLength(width: Int, missing: Int)
        case mask(missing: Int)
        case payload
    }

    private let sender: Sender
    private let messageLimit: Int
    private var stage = Stage.firstByte
    private var opcode = WebSocketOpcode.continuation
    private var isFinal = false
    /// The payload's length while the header is read, then the number of its bytes that are missing.
    private var length: UInt64 = 0
    /// The masking key, rotated so that the next byte to use is the first.
    private var mask: UInt32 = 0
    private var controlPayload: [UInt8] = []
    /// The kind of the message in progress; nil between messages.
    private var kind: WebSocketMessage.Kind?
    private var message: [UInt8] = []
    private var textValidator = UTF8Validator()

    /// - Parameter messageLimit: the maximum size of a message, in bytes.
    public init(from sender: Sender, messageLimit: Int) { (self.sender, self.messageLimit) = (sender, messageLimit) }

    /// The number of bytes of unfinished messages and frames in memory.
    public var heldBytes: Int { message.count + controlPayload.count }

    /// Parses input up to the end of a frame, or all of it if no frame ends in it.
    public mutating func advance(_ input: Span<UInt8>, at position: inout Int) throws(WebSocketError) -> Event {
        while position < input.count {
            if case .payload = stage {
                try parsePayload(input, at: &position)
            } else {
                try parseHeaderByte(input[position])
                position += 1
            }
            if case .payload = stage, length == 0 { return try endFrame() }
        }
        return .needsMoreData
    }

    // MARK: Header

    private mutating func parseHeaderByte(_ byte: UInt8) throws(WebSocketError) {
        switch stage {
        case .firstByte: try parseFirstByte(byte)
        case .lengthByte:
            // §5.1: every frame of a client is masked, and none of a server.
            guard (byte & 0x80 != 0) == (sender == .client) else { throw .protocolViolation }
            length = 0
            switch byte & 0x7F {
            case 126: try beginExtendedLength(2)
            case 127: try beginExtendedLength(8)
            default: try beginPayload(UInt64(byte & 0x7F))
            }
        case .extendedLength(let width, let missing):
            length = length << 8 | UInt64(byte)
            if missing > 1 {
                stage = .extendedLength(width: width, missing: missing - 1)
            } else {
                // §5.2: the shortest form, and no sign bit.
                guard length >= (width == 2 ? 126 : 0x1_0000), length >> 63 == 0 else { throw .protocolViolation }
                try beginPayload(length)
            }
        case .mask(let missing):
            mask = mask << 8 | UInt32(byte)
            stage = missing > 1 ? .mask(missing: missing - 1) : .payload
        case .payload: break
        }
    }

    private mutating func parseFirstByte(_ byte: UInt8) throws(WebSocketError) {
        // §5.2: reserved bits belong to extensions, and none is negotiated.
        guard byte & 0x70 == 0, let opcode = WebSocketOpcode(rawValue: byte & 0x0F) else { throw .protocolViolation }
        isFinal = byte & 0x80 != 0
        switch opcode {
        case .close, .ping, .pong: guard isFinal else { throw .protocolViolation }
        case .continuation: guard kind != nil else { throw .protocolViolation }
        case .text, .binary:
            guard kind == nil else { throw .protocolViolation }
            kind = opcode == .text ? .text : .binary
            textValidator = UTF8Validator()
        }
        self.opcode = opcode
        stage = .lengthByte
    }

    private mutating func beginExtendedLength(_ width: Int) throws(WebSocketError) {
        // §5.5: control frames have at most 125 bytes.
        guard !opcode.isControl else { throw .protocolViolation }
        stage = .extendedLength(width: width, missing: width)
    }

    private mutating func beginPayload(_ length: UInt64) throws(WebSocketError) {
        self.length = length
        if !opcode.isControl {
            guard length <= UInt64(messageLimit - message.count) else { throw .messageTooLarge }
            message.reserveCapacity(message.count + Int(length))
        }
        (mask, stage) = (0, sender == .client ? .mask(missing: 4) : .payload)
    }

    // MARK: Payload

    private mutating func parsePayload(_ input: Span<UInt8>, at position: inout Int) throws(WebSocketError) {
        let count = min(Int(length), input.count - position)
        let isText = !opcode.isControl && kind == .text
        for index in position..<position + count {
            let byte = input[index] ^ UInt8(mask >> 24)
            mask = mask << 8 | mask >> 24
            if isText, !textValidator.validateNext(byte) { throw .invalidText }
            if opcode.isControl { controlPayload.append(byte) } else { message.append(byte) }
        }
        position += count
        length -= UInt64(count)
    }

    private mutating func endFrame() throws(WebSocketError) -> Event {
        stage = .firstByte
        guard opcode.isControl else { return try endDataFrame() }
        let payload = controlPayload
        controlPayload = []
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong
        default: return .close(try Self.parseCloseCode(payload))
        }
    }

    private mutating func endDataFrame() throws(WebSocketError) -> Event {
        guard isFinal else { return .fragment }
        guard kind != .text || textValidator.isComplete else { throw .invalidText }
        let message = WebSocketMessage(kind ?? .binary, message)
        (kind, self.message) = (nil, [])
        return .message(message)
    }

    /// Returns the code of a Close frame, whose payload is empty, or a code and a reason in UTF-8 (§5.5.1).
    private static func parseCloseCode(_ payload: [UInt8]) throws(WebSocketError) -> WebSocketCloseCode? {
        if payload.isEmpty { return nil }
        guard payload.count >= 2 else { throw .protocolViolation }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isAllowedInFrame else { throw .protocolViolation }
        var reasonValidator = UTF8Validator()
        for byte in payload[2...] where !reasonValidator.validateNext(byte) { throw .invalidText }
        guard reasonValidator.isComplete else { throw .invalidText }
        return code
    }
}
