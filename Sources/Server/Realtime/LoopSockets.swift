import Domain
import HTTP
import Reactor
import WebSocketProtocol

/// The sockets of one loop.
final class LoopSockets {
    /// The close code if a token or membership is not valid. This code and `unavailable` make the mobile client stop.
    /// After any other code it reconnects at once, without end.
    static let notEntitled: WebSocketCloseCode = 4_001
    /// The close code for every other refusal, and for the mobile client when the server stops.
    static let unavailable: WebSocketCloseCode = 4_002

    let exchange: RealtimeExchange
    private let loopNumber: Int
    let poller: Poller
    private let host: WebSocketHost
    private var sockets: [UInt64: LiveSocket] = [:]
    /// The sockets that are closed as soon as they are accepted.
    private var refusedSockets: [UInt64: LiveSocket] = [:]
    private var lastID: UInt64 = 0
    private(set) var isDraining = false
    private var drainContinuations: [CheckedContinuation<Void, Never>] = []

    /// - Parameter number: the number of the loop.
    init(
        _ exchange: RealtimeExchange, loop number: Int, _ poller: Poller, memory: MemoryBudget,
        limits: WebSocketLimits
    ) {
        self.exchange = exchange
        self.loopNumber = number
        self.poller = poller
        host = WebSocketHost(limits: limits, memory: memory)
        exchange.socketMailboxes[number].open { [weak self] in self?.forward($0) }
    }

    /// The person who opened a socket, and their rights.
    struct Opening: Sendable {
        let user: UserID
        /// The session; nil for a development token.
        let session: SessionID?
        let family: FamilyID
        let role: FamilyRole
        /// The family's sequence number when the membership was read. The socket gets the events after it.
        let seq: Int64
        /// The time at which the handshake began.
        let handshakeBeganAt: Timestamp
        let network: RemoteAddress.Network
        let isBrowser: Bool
        let permit: SocketLimiter.Permit
    }

    /// Takes over a socket after its handshake, or refuses it if the server is stopping.
    func open(_ opening: Opening, _ upgraded: consuming UpgradedSocket) {
        // The server began to stop after it had accepted the upgrade.
        guard !isDraining else {
            return refuse(upgraded, opening.network, with: Self.stopCode(isBrowser: opening.isBrowser))
        }
        let id = nextID()
        let readAhead = upgraded.readAhead
        let socket = LiveSocket(
            id, opening, WebSocket(upgraded, network: opening.network, on: host), in: self)
        sockets[id] = socket
        exchange.counters.openedSockets.add()
        exchange.counters.openSockets.add()
        exchange.hubMailbox.send(
            .opened(
                SocketRecord(
                    id: id, loop: loopNumber, family: opening.family, user: opening.user, session: opening.session,
                    role: opening.role, notifiedSeq: opening.seq,
                    handshakeBeganAt: opening.handshakeBeganAt)))
        socket.begin(readAhead: readAhead)
    }

    /// Accepts a socket only to close it with the code.
    func refuse(_ upgraded: consuming UpgradedSocket, _ network: RemoteAddress.Network, with code: WebSocketCloseCode) {
        let id = nextID()
        let socket = LiveSocket(id, nil, WebSocket(upgraded, network: network, on: host), in: self)
        refusedSockets[id] = socket
        socket.begin(readAhead: [])
        socket.close(code, .refused)
    }

    private func nextID() -> UInt64 {
        lastID += 1
        return lastID << 8 | UInt64(loopNumber)
    }

    func remove(_ socket: LiveSocket) {
        refusedSockets[socket.id] = nil
        if sockets.removeValue(forKey: socket.id) != nil, let family = socket.family {
            exchange.counters.openSockets.add(-1)
            exchange.hubMailbox.send(.closed(socket.id, family: family))
        }
        guard isDraining, sockets.isEmpty, refusedSockets.isEmpty else { return }
        let continuations = drainContinuations
        drainContinuations = []
        for continuation in continuations { continuation.resume() }
    }

    /// Delivers the hub's events to their sockets, and closes the sockets that the hub has revoked.
    private func forward(_ messages: [SocketMessage]) {
        for message in messages {
            switch message {
            case .events(let events, let id): sockets[id]?.deliver(events)
            case .revoked(let id): sockets[id]?.close(Self.notEntitled, .revoked)
            }
        }
    }

    /// Returns the close code for a server that is stopping. A browser reconnects after increasing delays; the mobile
    /// client would reconnect at once, so it gets `unavailable`.
    private static func stopCode(isBrowser: Bool) -> WebSocketCloseCode { isBrowser ? .goingAway : unavailable }

    /// Closes all sockets, and returns when none is left.
    func drain() async {
        isDraining = true
        for socket in sockets.values { socket.close(Self.stopCode(isBrowser: socket.isBrowser), .draining) }
        guard !sockets.isEmpty || !refusedSockets.isEmpty else { return }
        await withCheckedContinuation { drainContinuations.append($0) }
    }
}
