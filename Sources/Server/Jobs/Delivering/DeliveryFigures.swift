import Domain
import Reactor

/// The results of one channel's deliveries on this instance, for metrics.
final class DeliveryFigures: Sendable {
    let channel: DeliveryChannel
    /// Messages that a provider acknowledged.
    let sent = Counter()
    /// Reminders of overdue nags, acknowledged by a provider.
    let repeated = Counter()
    /// Messages that were not sent because the person has a live socket.
    let seenLive = Counter()
    let retried = Counter()
    /// Deliveries that were given up.
    let dead = Counter()
    /// Deliveries that were not needed any more.
    let dropped = Counter()
    /// The number of deliveries that were postponed to the end of quiet hours.
    let deferred = Counter()
    /// Attempts that ended in a fault of this server or its database.
    let faults = Counter()
    private let dueSince = Locked(Timestamp?.none)

    init(_ channel: DeliveryChannel) { self.channel = channel }

    func update(dueSince moment: Timestamp?) { dueSince.withLock { $0 = moment } }

    /// Returns the time for which the delivery that waits longest has been due; 0 while the worker keeps up.
    func queueAge(at now: Timestamp) -> Timestamp.Span {
        max(dueSince.withLock { $0 }.map { now - $0 } ?? .seconds(0), .seconds(0))
    }
}
