/// The time for which a loop has used its processor without a pause: since it last waited for events, or yielded.
///
/// A loop that always finds work never waits, and the kernel takes its processor away only at a tick, after 4 ms or
/// more. Meanwhile nothing else runs on that processor: no other loop, no client on the machine, no PostgreSQL.
/// Therefore a busy loop yields; if no other thread needs the processor, that costs only a system call.
struct YieldBudget {
    /// The time after which a loop yields.
    private static let limitNanoseconds = 250_000
    /// The time from which a call for events counts as a wait.
    private static let shortestWaitNanoseconds = 50_000

    private var start: MonotonicTime

    init(from start: MonotonicTime) { self.start = start }

    /// Returns whether the loop must yield now. If so, the measured time begins again.
    mutating func takeYield(at now: MonotonicTime) -> Bool {
        guard now.nanoseconds(since: start) >= Self.limitNanoseconds else { return false }
        start = now
        return true
    }

    /// Records a call for events. If the call took at least `shortestWaitNanoseconds`, the measured time begins again.
    mutating func recordWait(from callStart: MonotonicTime, to now: MonotonicTime) {
        if now.nanoseconds(since: callStart) >= Self.shortestWaitNanoseconds { start = now }
    }
}
