import Domain
import Foundation

/// The time of day; injected, so that tests can set it.
public protocol WallClock: Sendable {
    /// Returns the time in whole milliseconds, the precision that clients see.
    func now() -> Timestamp
    /// Whether the clock should agree with the database's, so that acts compare the two; a test's clock need not.
    var isComparedWithDatabase: Bool { get }
}

extension WallClock {
    public var isComparedWithDatabase: Bool { false }
}

/// The machine's clock.
public struct SystemClock: WallClock {
    public init() {}

    public var isComparedWithDatabase: Bool { true }

    public func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
            .flooredToMillisecond
    }
}
