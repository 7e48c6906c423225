/// Figures of realtime, for metrics.
final class RealtimeCounters: Sendable {
    /// A reason for which a socket ended.
    enum CloseReason: String, CaseIterable, Sendable {
        /// The client closed it, or the connection broke.
        case client
        /// The person's session, account or membership has ended.
        case revoked
        /// The socket was accepted only to be closed (`LoopSockets.refuse`).
        case refused
        /// The server is stopping.
        case draining
        /// The client sent what the WebSocket protocol or the socket's limits do not allow.
        case protocolError = "protocol_error"
        /// The client did not answer a ping.
        case unanswered
        /// The client did not read.
        case slow
        /// The server had no memory for the socket's bytes.
        case memory
    }

    /// The number of sockets that were opened so far.
    let openedSockets = Counter()
    /// The number of frames sent.
    let sentFrames = Counter()
    /// The number of events that became part of another event's frame.
    let coalescedEvents = Counter()
    /// 1 if the hub's session listened for notifications at the last sweep, otherwise 0. While it does not listen, only
    /// sweeps find changes.
    let isHubListening = Counter()
    private let closings = CloseReason.allCases.map { _ in Counter() }

    func count(_ closing: CloseReason) { closings[Self.index(closing)].add() }
    func closingCount(for closing: CloseReason) -> Int { closings[Self.index(closing)].value }
    /// The number of open sockets.
    let openSockets = Counter()

    private static func index(_ closing: CloseReason) -> Int { CloseReason.allCases.firstIndex(of: closing) ?? 0 }
}
