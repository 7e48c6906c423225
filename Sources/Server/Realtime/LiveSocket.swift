import Domain
import HTTP
import Reactor
import WebSocketProtocol

/// One client's socket. It answers the client's `ping`, and sends the events of the family and of the person's
/// connections.
final class LiveSocket: WebSocketHandler {
    let id: UInt64
    /// The family of the person; nil for a socket that is refused.
    let family: FamilyID?
    let isBrowser: Bool
    private let socket: WebSocket
    private unowned let sockets: LoopSockets
    private var permit: SocketLimiter.Permit?
    private var queue = FrameQueue()
    private var isFlushScheduled = false
    /// The reason for which the server closes the socket; nil while it does not.
    private var closingReason: RealtimeCounters.CloseReason?

    init(_ id: UInt64, _ opening: LoopSockets.Opening?, _ socket: WebSocket, in sockets: LoopSockets) {
        self.id = id
        self.socket = socket
        self.sockets = sockets
        (family, isBrowser, permit) = (opening?.family, opening?.isBrowser ?? false, opening?.permit)
    }

    /// Starts to read.
    /// - Parameter readAhead: the input that HTTP has already read.
    func begin(readAhead: [UInt8]) { socket.begin(self, readAhead: readAhead) }

    func close(_ code: WebSocketCloseCode, _ reason: RealtimeCounters.CloseReason) {
        if closingReason == nil { closingReason = reason }
        socket.close(code)
    }

    // MARK: Events

    func deliver(_ events: [FamilyEvent]) {
        for event in events where queue.mergeOrAppend(event) { sockets.exchange.counters.coalescedEvents.add() }
        flush()
    }

    /// Sends what may be sent now. While the client has not read the last frames, events wait and are coalesced.
    private func flush() {
        guard let family, socket.isOpen, socket.queuedBytes == 0 else { return }
        let now = MonotonicTime.now()
        while socket.queuedBytes == 0, let frame = queue.takeNext(at: now) {
            guard socket.send(text: frame.json(of: family)) else { return }
            sockets.exchange.counters.sentFrames.add()
        }
        guard let time = queue.nextFrameTime, !isFlushScheduled, socket.queuedBytes == 0 else { return }
        isFlushScheduled = true
        sockets.poller.schedule(at: time) { [weak self] in
            guard let self else { return }
            isFlushScheduled = false
            flush()
        }
    }

    // MARK: The socket's calls

    func messageReceived(_ message: WebSocketMessage) {
        if message == Self.ping { socket.send(text: EventFrame.pong) }
    }

    private static let ping = WebSocketMessage(.text, Array("ping".utf8))

    func outputDrained() { flush() }

    func socketEnded(_ end: WebSocketEnd) {
        let reason: RealtimeCounters.CloseReason =
            switch end {
            case .peerClosed, .disconnected, .closed: .client
            case .failed: .protocolError
            case .pingTimeout: .unanswered
            case .tooSlow: .slow
            case .memoryTaken: .memory
            }
        sockets.exchange.counters.count(closingReason ?? reason)
        permit = nil
        sockets.remove(self)
    }
}
