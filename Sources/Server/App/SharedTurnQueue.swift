import Synchronization

/// A `TurnQueue` with its waiting tasks, which any number of loops share. It limits how many tasks run at the same
/// time, in total and per key, and keys take turns.
final class SharedTurnQueue<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var turns: TurnQueue<Key>
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var lastTicket: UInt64 = 0
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - limit: the maximum number of running tasks in all.
    ///   - limitPerKey: the maximum number of running tasks for each key.
    ///   - queueLimit: the maximum number of waiting tasks in all; one key may have a quarter of it.
    init(limit: Int = .max, limitPerKey: Int, queueLimit: Int = 1_024) {
        state = Mutex(State(turns: TurnQueue(limit: limit, limitPerKey: limitPerKey, queueLimit: queueLimit)))
    }

    /// Begins a run of the key if it may run at once; then `leave` MUST follow.
    /// - Returns: whether it may.
    func tryEnter(_ key: Key) -> Bool { state.withLock { $0.turns.tryEnter(key) } }

    /// Lets a task wait for its turn. It is resumed with true when it may run, and then `leave` MUST follow. It is
    /// resumed with false when too many wait, or by `withdraw`.
    /// - Returns: the ticket of a task that waits; nil for one that was resumed.
    func enqueue(_ key: Key, _ continuation: CheckedContinuation<Bool, Never>) -> UInt64? {
        let decision = state.withLock { state -> (mayRun: Bool, ticket: UInt64?) in
            // A turn may have come free since the task asked.
            if state.turns.tryEnter(key) { return (true, nil) }
            state.lastTicket += 1
            guard state.turns.enqueue(key, ticket: state.lastTicket) else { return (false, nil) }
            state.waiters[state.lastTicket] = continuation
            return (true, state.lastTicket)
        }
        if decision.ticket == nil { continuation.resume(returning: decision.mayRun) }
        return decision.ticket
    }

    /// Ends the wait of a ticket, unless its turn has come.
    func withdraw(_ key: Key, ticket: UInt64) {
        let waiter = state.withLock { state in
            state.turns.withdraw(key, ticket: ticket) ? state.waiters.removeValue(forKey: ticket) : nil
        }
        waiter?.resume(returning: false)
    }

    /// Ends one run of the key, and resumes the tasks whose turn has come.
    func leave(_ key: Key) {
        let next = state.withLock { state in
            state.turns.leave(key).compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in next { waiter.resume(returning: true) }
    }
}
