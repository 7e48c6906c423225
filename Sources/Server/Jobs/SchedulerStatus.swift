import Domain
import Reactor

/// How the scheduler of this instance stands, for health and metrics.
final class SchedulerStatus: Sendable {
    enum Verdict: String {
        /// What is due is looked at in time.
        case current
        /// Something has been due for too long, or nobody has looked for too long.
        case late
        /// This instance takes no turns.
        case off
    }

    struct Snapshot: Sendable, Equatable {
        /// Whether this instance had the turn in its last round.
        var isLeading = false
        /// When the last round ended; nil before the first.
        var lookedAt: Timestamp?
        /// Since when something was due that the last round left; nil when it left nothing.
        var dueSince: Timestamp?
    }

    /// How long a step may wait, and a round stay away, before somebody should look.
    static let limit = Timestamp.Span.seconds(60)

    let steps = Counter()
    let looks = Counter()
    let failures = Counter()
    private let snapshot = Locked((began: Timestamp?.none, now: Snapshot()))

    var isOn: Bool { snapshot.withLock { $0.began } != nil }
    var current: Snapshot { snapshot.withLock { $0.now } }

    func begin(at now: Timestamp) { snapshot.withLock { $0.began = now } }
    func update(_ new: Snapshot) { snapshot.withLock { $0.now = new } }

    func verdict(at now: Timestamp) -> Verdict {
        let (began, last) = snapshot.withLock { $0 }
        guard let began else { return .off }
        let isSilent = now - (last.lookedAt ?? began) > Self.limit
        return isSilent || lag(at: now) > Self.limit ? .late : .current
    }

    /// How long the nag that waits longest has been due.
    func lag(at now: Timestamp) -> Timestamp.Span {
        guard let since = current.dueSince else { return .seconds(0) }
        return max(now - since, .seconds(0))
    }
}
