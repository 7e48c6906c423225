import Domain
import Foundation

/// What time it is, handed in so that tests can set it.
public protocol WallClock: Sendable {
    /// Floored to the millisecond, the precision that reaches clients.
    func now() -> Timestamp
    /// Whether it is meant to show what the database's clock shows.
    var isTimeOfDay: Bool { get }
}

extension WallClock {
    public var isTimeOfDay: Bool { false }
}

/// The machine's clock.
public struct SystemClock: WallClock {
    public init() {}

    public var isTimeOfDay: Bool { true }

    public func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
            .flooredToMillisecond
    }
}
