import CLinux
import Glibc

/// A time on the machine's monotonic clock, in nanoseconds from an arbitrary start: for deadlines, not for dates.
public struct MonotonicTime: Hashable, Comparable, Sendable {
    public let nanoseconds: UInt64

    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// Reads the clock.
    public static func now() -> MonotonicTime {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    public static let distantFuture = MonotonicTime(nanoseconds: .max)

    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Adds a duration; a negative one counts as zero. The sum is at most `distantFuture`.
    public static func + (moment: Self, span: Duration) -> Self {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(span.wholeNanoseconds)
        return MonotonicTime(nanoseconds: overflow ? .max : sum)
    }

    /// Returns the time since `earlier`; zero if that is later.
    public func elapsed(since earlier: Self) -> Duration { .nanoseconds(nanoseconds(since: earlier)) }

    /// Returns the nanoseconds since `earlier`; zero if that is later.
    public func nanoseconds(since earlier: Self) -> Int {
        nanoseconds > earlier.nanoseconds ? Int(clamping: nanoseconds - earlier.nanoseconds) : 0
    }
}

extension Duration {
    /// The number of nanoseconds, clamped to 0…UInt64.max.
    fileprivate var wholeNanoseconds: UInt64 {
        UInt64(clamping: attoseconds / 1_000_000_000)
    }
}
