/// A type of frame (RFC 6455 §5.2). All other numbers are reserved.
public enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether this is a control frame. Those are never fragmented, and may come between the fragments of a message.
    var isControl: Bool { rawValue & 0x8 != 0 }
}

/// A complete message of the peer.
public struct WebSocketMessage: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// Text in valid UTF-8.
        case text
        case binary
    }

    public let kind: Kind
    public let bytes: [UInt8]

    public init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }
}

/// The reason why a connection ends, as a Close frame carries it (RFC 6455 §7.4).
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable, ExpressibleByIntegerLiteral {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public init(integerLiteral value: UInt16) { rawValue = value }

    public static let normal: WebSocketCloseCode = 1000
    public static let goingAway: WebSocketCloseCode = 1001
    public static let protocolError: WebSocketCloseCode = 1002
    public static let invalidPayload: WebSocketCloseCode = 1007
    public static let policyViolation: WebSocketCloseCode = 1008
    public static let messageTooBig: WebSocketCloseCode = 1009

    /// Whether the code may be in a frame: a registered code that may be sent, or one for libraries and applications.
    var isAllowedInFrame: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// An error of a peer that ends its connection.
public enum WebSocketError: Error, Sendable, Hashable {
    /// A frame that RFC 6455 does not allow.
    case protocolViolation
    /// Text that is not UTF-8.
    case invalidText
    case messageTooLarge
    /// More frames in a short time than the socket's limits allow. `WebSocketParser` does not check this.
    case tooManyFrames

    /// The code that is sent to the peer.
    public var closeCode: WebSocketCloseCode {
        switch self {
        case .protocolViolation: .protocolError
        case .invalidText: .invalidPayload
        case .messageTooLarge: .messageTooBig
        case .tooManyFrames: .policyViolation
        }
    }
}
