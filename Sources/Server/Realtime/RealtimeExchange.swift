import Contract
import Domain
import HTTP
import Reactor

/// An open socket, as the hub knows it.
struct SocketRecord: Sendable {
    /// The ID, unique in this process.
    let id: UInt64
    /// The number of the socket's loop.
    let loop: Int
    let family: FamilyID
    let user: UserID
    /// The session; nil for a development token.
    let session: SessionID?
    var role: FamilyRole
    /// The family's sequence number up to which the socket has been notified.
    var seq: Int64
    /// The time at which the socket's handshake began.
    var openedAt: Timestamp

    /// Returns whether an event of a connection may be new to the socket. Two seconds are subtracted, because an event
    /// that was committed about when the socket opened may have an earlier time.
    func mayBeNew(_ event: FamilyEvent) -> Bool { event.at > openedAt - .seconds(2) }
}

/// A message to the hub.
enum HubMessage: Sendable {
    /// `ChangedFamilies` contains families again.
    case familiesChanged
    case opened(SocketRecord)
    /// The socket with this ID has ended.
    case closed(UInt64, family: FamilyID)
}

/// A message from the hub to a loop's sockets.
enum SocketMessage: Sendable {
    /// Events for the socket with this ID.
    case events([FamilyEvent], to: UInt64)
    /// The socket with this ID is to be closed: its session, account or membership has ended.
    case revoked(UInt64)
}

/// The parts of realtime that the loops of one server share.
final class RealtimeExchange: Sendable {
    let hubMailbox: Mailbox<HubMessage>
    let socketMailboxes: [Mailbox<SocketMessage>]
    let changes: ChangedFamilies
    let limiter: SocketLimiter
    let counters: RealtimeCounters

    /// - Parameter loops: at least one; the hub runs on the first.
    init(_ loops: [EventLoop], limits: SocketLimiter.Limits, counters: RealtimeCounters) {
        self.counters = counters
        hubMailbox = Mailbox(loops[0])
        socketMailboxes = loops.map { Mailbox($0) }
        changes = ChangedFamilies(hubMailbox)
        limiter = SocketLimiter(limits)
    }
}

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
    let opened = Counter()
    /// The number of frames sent.
    let frames = Counter()
    /// The number of events that became part of another event's frame.
    let coalesced = Counter()
    /// 1 if the hub's session listened for notifications at the last sweep, otherwise 0. While it does not listen, only
    /// sweeps find changes.
    let listening = Counter()
    private let closings = CloseReason.allCases.map { _ in Counter() }

    func count(_ closing: CloseReason) { closings[Self.index(closing)].add() }
    func closingCount(for closing: CloseReason) -> Int { closings[Self.index(closing)].value }
    /// The number of open sockets.
    let open = Counter()

    private static func index(_ closing: CloseReason) -> Int { CloseReason.allCases.firstIndex(of: closing) ?? 0 }
}

/// Limits how many sockets may be open: in all, for each address and for each person.
final class SocketLimiter: Sendable {
    struct Limits: Sendable, Hashable {
        var total = 15_000
        /// The limit for one IPv4 address, or one IPv6 /64.
        var perAddress = 2_000
        /// The limit for one person. A browser opens a socket for each page.
        var perUser = 16
    }

    private struct Counts {
        var total = 0
        var byNetwork: [RemoteAddress.Network: Int] = [:]
        var byUser: [UserID: Int] = [:]
    }

    private let limits: Limits
    private let counts = Locked(Counts())

    init(_ limits: Limits) { self.limits = limits }

    /// Returns a permit for one more socket; nil if a limit is reached.
    func admit(_ user: UserID, _ network: RemoteAddress.Network) -> Permit? {
        let isAdmitted = counts.withLock { [limits] counts in
            let (ofNetwork, ofUser) = (counts.byNetwork[network] ?? 0, counts.byUser[user] ?? 0)
            guard counts.total < limits.total, ofNetwork < limits.perAddress, ofUser < limits.perUser else {
                return false
            }
            counts.total += 1
            counts.byNetwork[network] = ofNetwork + 1
            counts.byUser[user] = ofUser + 1
            return true
        }
        return isAdmitted ? Permit(self, user, network) : nil
    }

    private func release(_ user: UserID, _ network: RemoteAddress.Network) {
        counts.withLock { counts in
            counts.total -= 1
            let (ofNetwork, ofUser) = (counts.byNetwork[network] ?? 0, counts.byUser[user] ?? 0)
            counts.byNetwork[network] = ofNetwork > 1 ? ofNetwork - 1 : nil
            counts.byUser[user] = ofUser > 1 ? ofUser - 1 : nil
        }
    }

    /// The permit of one socket. It stops counting when the last reference to it is released.
    final class Permit: Sendable {
        private let limiter: SocketLimiter
        private let user: UserID
        private let network: RemoteAddress.Network

        fileprivate init(_ limiter: SocketLimiter, _ user: UserID, _ network: RemoteAddress.Network) {
            (self.limiter, self.user, self.network) = (limiter, user, network)
        }

        deinit { limiter.release(user, network) }
    }
}
