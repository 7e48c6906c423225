import Dispatch

/// A few threads for calls that block or compute for long (password hashing), behind a bounded queue.
public final class BlockingPool: Sendable {
    /// The queue is full: try again later.
    public struct Busy: Error {
        public init() {}
    }

    private struct State {
        var queue: [@Sendable () -> Void] = []
        var isStopped = false
    }

    private let state = Locked(State())
    private let work = DispatchSemaphore(value: 0)
    private let queueLimit: Int

    /// - Parameters:
    ///   - threads: how many calls run at the same time.
    ///   - queueLimit: how many may wait; one more is refused.
    public init(name: String, threads: Int, queueLimit: Int) throws(SystemError) {
        self.queueLimit = queueLimit
        for number in 0..<threads { try Thread.start(name: "\(name)-\(number)") { [self] in serve() } }
    }

    /// Lets the threads end once the queue is empty.
    public func stop() {
        state.withLock { $0.isStopped = true }
        work.signal()
    }

    /// Runs `body` on one of the threads and returns, on the caller's executor, what it returned.
    /// - Throws: `Busy` when the queue is full.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async throws(Busy) -> Value {
        let result: Value? = await withCheckedContinuation { continuation in
            let isQueued = state.withLock { state in
                guard state.queue.count < queueLimit, !state.isStopped else { return false }
                state.queue.append { continuation.resume(returning: body()) }
                return true
            }
            if isQueued { work.signal() } else { continuation.resume(returning: nil) }
        }
        guard let result else { throw Busy() }
        return result
    }

    private func serve() {
        while true {
            work.wait()
            let (next, isStopped) = state.withLock { state in
                (state.queue.isEmpty ? nil : state.queue.removeFirst(), state.isStopped)
            }
            if let next {
                next()
            } else if isStopped {
                work.signal()
                return
            }
        }
    }
}
