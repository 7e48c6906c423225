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
    case familiesChanged
    case opened(SocketRecord)
    case closed(UInt64, family: FamilyID)
}

/// A message from the hub to a loop's sockets.
enum SocketMessage: Sendable {
    case events([FamilyEvent], to: UInt64)
    /// The session has ended, or the person is a member no more.
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
        case client, revoked, refused, draining, protocolError = "protocol_error", unanswered, slow, memory
    }

    let opened = Counter()
    /// The number of frames sent.
    let frames = Counter()
    /// The number of events that became part of another event's frame.
    let coalesced = Counter()
    /// 1 while the hub's session listens for notifications, otherwise 0. While it is 0, only sweeps find changes.
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
