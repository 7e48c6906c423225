import Reactor

/// A deadline that progress moves away: each byte buys as much time as it may take at the lowest allowed rate, but never
/// more than one window from now.
///
/// So the rate is measured over a sliding window: what came earlier does not pay for a later silence.
struct ProgressDeadline: Sendable, Hashable {
    private(set) var time: MonotonicTime

    init(now: MonotonicTime, window: Duration) { time = now + window }

    /// - Parameter rate: the lowest allowed, in bytes per second.
    mutating func advance(bytes: Int, rate: Int, window: Duration, now: MonotonicTime) {
        let earned = Duration.nanoseconds(bytes &* (1_000_000_000 / max(1, rate)))
        time = min(time + earned, now + window)
    }
}
