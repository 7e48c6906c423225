import Domain
import Reactor

/// The status of this instance's scheduler, for health and metrics.
final class SchedulerStatus: Sendable {
    /// The judgement of the status, as the readiness check shows it.
    enum Verdict: String {
        /// Due steps are taken in time.
        case current
        /// A step has been due for too long, or no round has ended for too long.
        case late
        /// This instance runs no scheduler.
        case off
    }

    /// The result of the last round.
    struct Snapshot: Sendable, Equatable {
        /// Whether this instance held the lock in its last round.
        var isLeading = false
        /// The time at which the last round ended; nil before the first.
        var roundEndedAt: Timestamp?
        /// The time since which the most overdue step has been due; nil if the last round left no due step.
        var dueSince: Timestamp?
    }

    /// The time after which the status is late: since the oldest due step became due, or since a round last ended.
    static let lateAfter = Timestamp.Span.seconds(60)

    /// The number of steps taken.
    let steps = Counter()
    /// The number of attempts to take the next step of a nag, without those that ended in an error.
    let completedAttempts = Counter()
    /// The number of attempts that ended in an error.
    let failedAttempts = Counter()
    private let snapshot = Locked((startedAt: Timestamp?.none, latest: Snapshot()))

    /// Whether this instance runs a scheduler.
    var isOn: Bool { snapshot.withLock { $0.startedAt } != nil }
    var current: Snapshot { snapshot.withLock { $0.latest } }

    /// Records that the scheduler was started.
    func begin(at now: Timestamp) { snapshot.withLock { $0.startedAt = now } }
    func update(_ new: Snapshot) { snapshot.withLock { $0.latest = new } }

    func verdict(at now: Timestamp) -> Verdict {
        let (startedAt, last) = snapshot.withLock { $0 }
        guard let startedAt else { return .off }
        let isSilent = now - (last.roundEndedAt ?? startedAt) > Self.lateAfter
        return isSilent || lag(at: now) > Self.lateAfter ? .late : .current
    }

    /// Returns the time for which the nag that waits longest has been due; 0 if none waits.
    func lag(at now: Timestamp) -> Timestamp.Span {
        guard let since = current.dueSince else { return .seconds(0) }
        return max(now - since, .seconds(0))
    }
}
