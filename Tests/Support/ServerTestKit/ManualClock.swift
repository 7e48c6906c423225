import Domain
import SeededNumbers
import Server
import Synchronization

/// A clock that changes only when a test sets it.
final class ManualClock: WallClock {
    /// Tuesday, 10 March 2026, 11:00 in New York: two days after the clocks went forward there.
    static let start = Timestamp(seconds: 1_773_154_800)

    private let moment = Mutex(start)

    func now() -> Timestamp { moment.withLock { $0 } }
    func set(to new: Timestamp) { moment.withLock { $0 = new } }
    func advance(by span: Timestamp.Span) { moment.withLock { $0 = $0 + span } }
}

/// A source of random bytes that are the same in every run, if they are requested in the same order.
final class SeededRandomness: Randomness {
    private let numbers = Mutex(SeededNumbers(seed: 0x6e61_677a))

    func bytes(_ count: Int) -> [UInt8] {
        numbers.withLock { numbers in (0..<count).map { _ in UInt8(truncatingIfNeeded: numbers.next() >> 56) } }
    }
}
