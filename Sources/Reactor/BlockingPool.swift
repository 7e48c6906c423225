import Dispatch

/// A few threads for calls that block or compute for long (password hashing), behind a bounded queue.
public final class BlockingPool: Sendable {
    /// The queue is full: try again later.
    public struct Busy: Error {
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
    private let work = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - threads: how many calls run at the same time.
    ///   - lanes: how many kinds of calls take turns.
    ///   - queueLimit: how many of each kind may wait.
    public init(name: String, threads: Int, lanes: Int = 1, queueLimit: Int) throws(SystemError) {
        state = Locked(State(queue: FairQueue(lanes: lanes, limit: queueLimit)))
        for number in 0..<threads { try Thread.start(name: "\(name)-\(number)") { [self] in serve() } }
    }

    /// Lets the threads end once the queue is empty.
    public func stop() {
        state.withLock { $0.isStopped = true }
        work.signal()
    }

    /// How many calls wait.
    public var waiting: Int { state.withLock { $0.queue.count } }

    /// Runs `body` on one of the threads and returns, on the caller's executor, what it returned.
    /// - Parameters:
    ///   - lane: which kind of call this is, from 0.
    ///   - client: any number that tells those apart who make such calls: they take turns as well.
    /// - Throws: `Busy` when the queue is full, also where another client's call took the place later.
    public func run<Value: Sendable>(
        lane: Int = 0, client: Int = 0, _ body: @escaping @Sendable () -> Value
    ) async throws(Busy) -> Value {
        let result: Value? = await withCheckedContinuation { continuation in
            let call = Call(
                run: { continuation.resume(returning: body()) }, refuse: { continuation.resume(returning: nil) })
            let (refused, isQueued) = state.withLock { state -> (Call?, Bool) in
                guard !state.isStopped else { return (call, false) }
                let before = state.queue.count
                let refused = state.queue.append(call, lane: lane, client: client)
                return (refused, state.queue.count > before)
            }
            if isQueued { work.signal() }
            refused?.refuse()
        }
        guard let result else { throw Busy() }
        return result
    }

    private func serve() {
        while true {
            work.wait()
            let (next, isStopped) = state.withLock { ($0.queue.popFirst(), $0.isStopped) }
            if let next {
                next.run()
            } else if isStopped {
                work.signal()
                return
            }
        }
    }
}
