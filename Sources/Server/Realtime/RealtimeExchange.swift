import Domain
import Reactor

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
