import Reactor

/// A deadline that moves with progress: each byte adds the time it takes at the lowest allowed rate, up to one window
/// from now.
///
/// So the rate is measured over a sliding window: earlier progress does not excuse a later pause.
struct ProgressDeadline: Sendable, Hashable {
    private(set) var time: MonotonicTime

    init(now: MonotonicTime, window: Duration) { time = now + window }

    /// Moves the deadline later, because bytes were received or sent.
    /// - Parameter minBytesPerSecond: the lowest allowed rate, in bytes per second.
    mutating func advance(bytes: Int, minBytesPerSecond: Int, window: Duration, now: MonotonicTime) {
        let earned = Duration.nanoseconds(bytes &* (1_000_000_000 / max(1, minBytesPerSecond)))
        time = min(time + earned, now + window)
    }
}
