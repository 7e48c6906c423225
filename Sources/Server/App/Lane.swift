import Contract
import Reactor

/// Limits how many tasks of one loop do something at the same time, in all and for each key; the keys take turns.
///
/// For work that is costly or waits for locks. Tasks wait here in memory and hold no database session.
final class Lane<Key: Hashable> {
    private let poller: Poller
    private let timeout: Duration
    private var turns: TurnQueue<Key>
    private var waiters: [UInt64: (continuation: CheckedContinuation<Bool, Never>, timer: TimerID)] = [:]
    private var lastTicket: UInt64 = 0

    /// - Parameters:
    ///   - queueLimit: how many tasks may wait in all; one key may have a quarter of that.
    ///   - timeout: how long a task may wait.
    init(
        _ poller: Poller, limit: Int = .max, limitPerKey: Int, queueLimit: Int = 1_024,
        timeout: Duration = .seconds(2)
    ) {
        self.poller = poller
        self.timeout = timeout
        turns = TurnQueue(limit: limit, limitPerKey: limitPerKey, queueLimit: queueLimit)
    }

    /// Waits for a turn; `leave` MUST follow.
    /// - Parameter deadline: when the task stops waiting; nil for the timeout from now on.
    /// - Throws: 503 when too many wait, or at the deadline.
    func enter(_ key: Key, until deadline: MonotonicTime? = nil) async throws(APIError) {
        if turns.enter(key) { return }
        let mayGo = await withCheckedContinuation { continuation in
            // The loop may have turned since we looked.
            if turns.enter(key) { return continuation.resume(returning: true) }
            lastTicket += 1
            let ticket = lastTicket
            guard turns.wait(key, ticket: ticket) else { return continuation.resume(returning: false) }
            let timer = poller.schedule(at: deadline ?? poller.now + timeout) { [weak self] in
                guard let self, turns.withdraw(key, ticket: ticket) else { return }
                waiters.removeValue(forKey: ticket)?.continuation.resume(returning: false)
            }
            waiters[ticket] = (continuation, timer)
        }
        guard mayGo else {
            throw APIError(.unavailable, "Too many requests like this are waiting. Try again.", retryAfter: 1)
        }
    }

    func leave(_ key: Key) {
        for ticket in turns.leave(key) {
            guard let waiter = waiters.removeValue(forKey: ticket) else { continue }
            poller.cancel(waiter.timer)
            waiter.continuation.resume(returning: true)
        }
    }

    /// Runs `body` in its turn.
    func run<Value>(_ key: Key, _ body: () async throws -> Value) async throws -> Value {
        try await enter(key)
        defer { leave(key) }
        return try await body()
    }
}
