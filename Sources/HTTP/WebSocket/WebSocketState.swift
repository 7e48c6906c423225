import Reactor
import WebSocketProtocol

/// Limits of one WebSocket.
public struct WebSocketLimits: Sendable, Hashable {
    /// Bytes of a message; a larger one ends the connection with 1009.
    public var maxMessageBytes = 4 << 10
    /// Bytes that may wait for a client that reads slowly; more end the connection.
    public var maxQueuedBytes = 64 << 10
    /// A client may send one frame in `frameInterval`, and up to `frameBurst` at once; more end the connection with
    /// 1008.
    public var frameInterval: Duration = .milliseconds(200)
    public var frameBurst = 50
    /// A ping is sent after this time without a frame from the client.
    public var pingAfter: Duration = .seconds(45)
    /// The time that the client has to answer the ping.
    public var pongTimeout: Duration = .seconds(20)
    /// The time that the client has to answer a Close frame, or to close after an error.
    public var closeTimeout: Duration = .seconds(2)
    /// The time for which queued bytes may wait without the client reading any.
    public var writeTimeout: Duration = .seconds(20)

    public init() {}
}

/// A reason why a WebSocket ended.
public enum WebSocketEnd: Sendable, Hashable {
    /// The client closed it; nil if it gave no code.
    case peerClosed(WebSocketCloseCode?)
    /// The server closed it.
    case closed(WebSocketCloseCode)
    /// The client broke the protocol or a limit.
    case failed(WebSocketError)
    /// The connection broke, or the client left without a Close frame.
    case disconnected
    /// The client did not answer a ping.
    case pingTimeout
    /// The client read nothing for `writeTimeout`, or read too few of the answers to its frames.
    case tooSlow
    /// The server had no memory for the bytes that were received from the client or wait for it.
    case memoryTaken
}

/// The states of one WebSocket: open, closing, ended.
///
/// A pure value: it reads no clock and does no I/O. `WebSocket` reports what happens and sends what it returns.
struct WebSocketState {
    enum Event: Hashable {
        case needsInput
        case message(WebSocketMessage)
        /// A frame to send.
        case answer([UInt8])
    }

    private enum Phase {
        case open
        /// A Close frame is sent, and the peer's is awaited until `deadline`.
        case closing(deadline: MonotonicTime)
        /// The peer broke the protocol: its input is discarded until it closes, or until `deadline`, so that it can
        /// read the Close frame.
        case failed(deadline: MonotonicTime)
        /// Both Close frames are sent, or there will be no other.
        case finished
    }

    private let limits: WebSocketLimits
    private var parser: WebSocketParser
    private var phase = Phase.open
    /// The time at which the quota of frames is completely available again.
    private var quotaRestoredAt: MonotonicTime
    /// The time at which the last frame arrived.
    private var lastFrameAt: MonotonicTime
    private var isPingSent = false
    /// The time since which bytes have waited for the client and none could be sent; nil if no bytes wait.
    private var stalledSince: MonotonicTime?
    /// The reason why the socket ends, which may be known before the socket has ended; nil while it is unknown.
    private(set) var end: WebSocketEnd?

    init(limits: WebSocketLimits, now: MonotonicTime) {
        self.limits = limits
        parser = WebSocketParser(from: .client, messageLimit: limits.maxMessageBytes)
        (quotaRestoredAt, lastFrameAt) = (now, now)
    }

    var isOpen: Bool { if case .open = phase { true } else { false } }
    /// Whether the socket can be closed once all bytes are sent.
    var isFinished: Bool { if case .finished = phase { true } else { false } }
    /// Whether the client broke the protocol or a limit: nothing more will be sent after the queued bytes.
    var hasFailed: Bool { if case .failed = phase { true } else { false } }
    var heldBytes: Int { parser.heldBytes }

    // MARK: Input

    /// Takes input up to the next event. If the socket is closing, all frames except the Close frame are ignored.
    mutating func take(_ input: Span<UInt8>, at position: inout Int, now: MonotonicTime) -> Event {
        while position < input.count {
            guard !isFinished, !hasFailed else {
                position = input.count
                break
            }
            do throws(WebSocketError) {
                let event = try parser.advance(input, at: &position)
                if case .needsMoreData = event { break }
                try countFrame(at: now)
                if let event = handle(event) { return event }
            } catch {
                position = input.count
                return fail(error, now)
            }
        }
        return .needsInput
    }

    private mutating func handle(_ event: WebSocketParser.Event) -> Event? {
        switch event {
        case .message(let message): return isOpen ? .message(message) : nil
        case .ping(let payload): return isOpen ? .answer(WebSocketWriter.frame(.pong, payload)) : nil
        case .close(let code):
            let isAnswer = !isOpen
            phase = .finished
            if end == nil { end = .peerClosed(code) }
            return isAnswer ? nil : .answer(WebSocketWriter.closeFrame(code))
        case .fragment, .pong, .needsMoreData: return nil
        }
    }

    /// Counts a frame against the quota.
    private mutating func countFrame(at now: MonotonicTime) throws(WebSocketError) {
        (lastFrameAt, isPingSent) = (now, false)
        quotaRestoredAt = max(quotaRestoredAt, now) + limits.frameInterval
        guard quotaRestoredAt <= now + limits.frameInterval * limits.frameBurst else { throw .tooManyFrames }
    }

    private mutating func fail(_ error: WebSocketError, _ now: MonotonicTime) -> Event {
        let isFirst = isOpen
        if end == nil { end = .failed(error) }
        phase = isFirst ? .failed(deadline: now + limits.closeTimeout) : .finished
        return isFirst ? .answer(WebSocketWriter.closeFrame(error.closeCode)) : .needsInput
    }

    // MARK: Output and time

    /// Begins to close. Returns the frame to send; nil if the socket is closing already.
    mutating func close(_ code: WebSocketCloseCode, now: MonotonicTime) -> [UInt8]? {
        guard isOpen else { return nil }
        end = .closed(code)
        phase = .closing(deadline: now + limits.closeTimeout)
        return WebSocketWriter.closeFrame(code)
    }

    /// Records that bytes were sent to the client, and whether others still wait.
    mutating func recordSent(_ count: Int, waiting: Int, now: MonotonicTime) {
        if waiting == 0 { stalledSince = nil } else if count > 0 || stalledSince == nil { stalledSince = now }
    }

    /// The time of the next `expire`.
    var deadline: MonotonicTime {
        let stallDeadline = stalledSince.map { $0 + limits.writeTimeout } ?? .distantFuture
        switch phase {
        case .open:
            return min(stallDeadline, lastFrameAt + limits.pingAfter + (isPingSent ? limits.pongTimeout : .zero))
        case .closing(let deadline), .failed(let deadline): return min(stallDeadline, deadline)
        case .finished: return stallDeadline
        }
    }

    /// The step at an expired deadline.
    enum Expiry: Hashable {
        case nothing
        case ping([UInt8])
        /// The socket MUST be closed now.
        case end(WebSocketEnd)
    }

    mutating func expire(now: MonotonicTime) -> Expiry {
        guard deadline <= now else { return .nothing }
        if let stalledSince, stalledSince + limits.writeTimeout <= now { return .end(end ?? .tooSlow) }
        guard isOpen else { return .end(end ?? .disconnected) }
        guard !isPingSent else { return .end(.pingTimeout) }
        isPingSent = true
        return .ping(WebSocketWriter.frame(.ping))
    }
}
