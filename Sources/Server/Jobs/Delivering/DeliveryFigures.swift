import Domain
import Reactor

/// What became of one channel's deliveries on this instance, for metrics.
final class DeliveryFigures: Sendable {
    let channel: DeliveryChannel
    /// Acknowledged by a provider.
    let sent = Counter()
    /// Reminders of overdue nags, acknowledged by a provider.
    let repeated = Counter()
    /// Not sent because the person has a live socket.
    let seenLive = Counter()
    let retried = Counter()
    /// Given up.
    let dead = Counter()
    /// Not needed any more.
    let dropped = Counter()
    /// Put off to the end of quiet hours.
    let deferred = Counter()
    /// Attempts that ended in a fault of this server or its database.
    let faults = Counter()
    private let dueSince = Locked(Timestamp?.none)

    init(_ channel: DeliveryChannel) { self.channel = channel }

    func update(dueSince moment: Timestamp?) { dueSince.withLock { $0 = moment } }

    /// How long the delivery that waits longest has been due; 0 while the worker keeps up.
    func queueAge(at now: Timestamp) -> Timestamp.Span {
        max(dueSince.withLock { $0 }.map { now - $0 } ?? .seconds(0), .seconds(0))
    }
}
