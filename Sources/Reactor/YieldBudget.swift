/// The time for which a loop has had its processor to itself: since it last waited for events, or yielded.
///
/// A loop that always finds work never waits, and the kernel takes its processor only at a tick, after 4 ms and more. What
/// needs the same processor stands still meanwhile: other loops, clients on the machine, PostgreSQL. So a busy loop yields
/// by itself; where nobody else needs the processor, that costs a system call.
struct YieldBudget {
    /// The time after which a loop yields, in nanoseconds.
    private static let limit = 250_000
    /// The shortest time of a call for events that has waited, in nanoseconds.
    private static let shortestWait = 50_000

    private var start: MonotonicTime

    init(from start: MonotonicTime) { self.start = start }

    /// Whether the loop must yield now; then a new run begins.
    mutating func isOver(at now: MonotonicTime) -> Bool {
        guard now.nanoseconds(since: start) >= Self.limit else { return false }
        start = now
        return true
    }

    /// Counts a call for events: a new run begins if it has waited.
    mutating func asked(at asked: MonotonicTime, answeredAt now: MonotonicTime) {
        if now.nanoseconds(since: asked) >= Self.shortestWait { start = now }
    }
}
