import Domain
import Reactor

/// The results of one channel's deliveries on this instance, for metrics.
final class DeliveryFigures: Sendable {
    let channel: DeliveryChannel
    /// The number of messages that a provider acknowledged, without reminders of overdue nags.
    let sent = Counter()
    /// The number of reminders of overdue nags that a provider acknowledged.
    let repeated = Counter()
    /// The number of messages that were not sent because the person has a live socket.
    let skippedForLiveSocket = Counter()
    /// The number of attempts after which another one was scheduled.
    let retried = Counter()
    /// The number of deliveries, or of single reminders, that were given up.
    let dead = Counter()
    /// The number of deliveries that were not needed any more.
    let dropped = Counter()
    /// The number of times that a delivery was postponed, for instance to the end of quiet hours.
    let deferred = Counter()
    /// The number of attempts that ended in a fault of this server or its database.
    let faults = Counter()
    /// The time from which the oldest waiting delivery was due; nil while the worker keeps up.
    private let dueSince = Locked(Timestamp?.none)

    init(_ channel: DeliveryChannel) { self.channel = channel }

    /// Sets the time from which the oldest waiting delivery was due; nil if none has to wait.
    func update(dueSince moment: Timestamp?) { dueSince.withLock { $0 = moment } }

    /// Returns the time for which the delivery that waits longest has been due; 0 while the worker keeps up.
    func queueAge(at now: Timestamp) -> Timestamp.Span {
        max(dueSince.withLock { $0 }.map { now - $0 } ?? .seconds(0), .seconds(0))
    }
}
