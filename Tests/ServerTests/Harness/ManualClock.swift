import Domain
import Server
import Synchronization

/// A clock that stands still until a test moves it.
final class ManualClock: WallClock {
    /// Tuesday, 10 March 2026, 11:00 in New York: two days after the clocks went forward there.
    static let start = Timestamp(seconds: 1_773_154_800)

    private let moment = Mutex(start)

    func now() -> Timestamp { moment.withLock { $0 } }
    func set(to new: Timestamp) { moment.withLock { $0 = new } }
    func advance(by span: Timestamp.Span) { moment.withLock { $0 = $0 + span } }
}

/// Random bytes that are the same in every run, in the order they are asked for.
final class SeededRandomness: Randomness {
    private let state = Mutex<UInt64>(0x6e61_677a)

    func bytes(_ count: Int) -> [UInt8] {
        state.withLock { state in
            (0..<count).map { _ in
                state &+= 0x9e37_79b9_7f4a_7c15
                var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
                mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
                return UInt8(truncatingIfNeeded: mixed >> 56)
            }
        }
    }
}
