import Dispatch

/// A few threads for calls that block or compute for long (such as password hashing), with a bounded queue.
public final class BlockingPool: Sendable {
    /// The error of a call that is not run, because the queue is full, a call of another client displaced it, or the
    /// pool has stopped.
    public struct BusyError: Error {
        public init() {}
    }

    private struct Call {
        let run: @Sendable () -> Void
        let refuse: @Sendable () -> Void
    }

    private struct State {
        var queue: FairQueue<Call>
        var isStopped = false
    }

    private let state: Locked<State>
    private let callSemaphore = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - threads: the number of threads, which is the maximum number of calls that run at the same time.
    ///   - lanes: the number of kinds of calls, which take turns.
    ///   - queueLimitPerLane: the maximum number of waiting calls of each kind.
    public init(name: String, threads: Int, lanes: Int = 1, queueLimitPerLane: Int) throws(SystemError) {
        state = Locked(State(queue: FairQueue(lanes: lanes, limitPerLane: queueLimitPerLane)))
        for number in 0..<threads { try Thread.start(name: "\(name)-\(number)") { [self] in serve() } }
    }

    /// Refuses further calls, and ends the threads once the queue is empty.
    public func stop() {
        state.withLock { $0.isStopped = true }
        callSemaphore.signal()
    }

    /// The number of waiting calls.
    public var waitingCalls: Int { state.withLock { $0.queue.count } }

    /// Runs `body` on one of the threads, and returns its result on the caller's executor.
    /// - Parameters:
    ///   - lane: the kind of call, from 0.
    ///   - client: any number that distinguishes callers: callers of one lane take turns too.
    /// - Throws: `BusyError` if the pool has stopped, if the queue is full, or if a call of another client displaced
    ///   this one.
    public func run<Value: Sendable>(
        lane: Int = 0, client: Int = 0, _ body: @escaping @Sendable () -> Value
    ) async throws(BusyError) -> Value {
        let result: Value? = await withCheckedContinuation { continuation in
            let call = Call(
                run: { continuation.resume(returning: body()) }, refuse: { continuation.resume(returning: nil) })
            let (refused, hasQueueGrown) = state.withLock { state -> (Call?, Bool) in
                guard !state.isStopped else { return (call, false) }
                let countBefore = state.queue.count
                let refused = state.queue.append(call, lane: lane, client: client)
                return (refused, state.queue.count > countBefore)
            }
            if hasQueueGrown { callSemaphore.signal() }
            refused?.refuse()
        }
        guard let result else { throw BusyError() }
        return result
    }

    private func serve() {
        while true {
            callSemaphore.wait()
            let (next, isStopped) = state.withLock { ($0.queue.popFirst(), $0.isStopped) }
            if let next {
                next.run()
            } else if isStopped {
                callSemaphore.signal()
                return
            }
        }
    }
}
