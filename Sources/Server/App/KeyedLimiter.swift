import Contract
import Reactor

/// Limits how many tasks run at the same time, in all and for each key. The keys take turns. The tasks are those of one
/// loop, or of all loops that share a `SharedTurnQueue`.
///
/// It is for work that is costly or waits for locks: tasks wait here in memory and hold no database session.
final class KeyedLimiter<Key: Hashable & Sendable> {
    private let poller: Poller
    private let timeout: Duration
    private let turns: SharedTurnQueue<Key>

    /// - Parameters:
    ///   - poller: the poller of the loop that runs the tasks.
    ///   - turns: the queue that counts the tasks of all loops that share it.
    ///   - timeout: the longest time for which a task may wait.
    init(_ poller: Poller, sharing turns: SharedTurnQueue<Key>, timeout: Duration = .seconds(2)) {
        (self.poller, self.turns, self.timeout) = (poller, turns, timeout)
    }

    /// Creates a limiter for one loop.
    /// - Parameters:
    ///   - limit: the maximum number of running tasks in all.
    ///   - limitPerKey: the maximum number of running tasks for each key.
    ///   - queueLimit: the maximum number of waiting tasks in all; one key may have a quarter of it.
    convenience init(
        _ poller: Poller, limit: Int = .max, limitPerKey: Int, queueLimit: Int = 1_024,
        timeout: Duration = .seconds(2)
    ) {
        self.init(
            poller, sharing: SharedTurnQueue(limit: limit, limitPerKey: limitPerKey, queueLimit: queueLimit),
            timeout: timeout)
    }

    /// Waits for a turn; `leave` MUST follow.
    /// - Parameter deadline: the time at which the task stops waiting; nil for the timeout from now on.
    /// - Throws: 503 when too many wait, or at the deadline.
    func enter(_ key: Key, until deadline: MonotonicTime? = nil) async throws(APIError) {
        if turns.tryEnter(key) { return }
        var timer: TimerID?
        let mayRun = await withCheckedContinuation { continuation in
            guard let ticket = turns.enqueue(key, continuation) else { return }
            timer = poller.schedule(at: deadline ?? poller.now + timeout) { [turns] in
                turns.withdraw(key, ticket: ticket)
            }
        }
        if let timer { poller.cancel(timer) }
        guard mayRun else { throw APIError.tooManyRequestsAreWaiting }
    }

    func leave(_ key: Key) { turns.leave(key) }

    /// Runs `body` in its turn.
    func run<Value>(_ key: Key, _ body: () async throws -> Value) async throws -> Value {
        try await enter(key)
        defer { leave(key) }
        return try await body()
    }
}
