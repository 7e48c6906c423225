import CLinux
import Glibc
import Synchronization

/// One thread with one epoll instance and one Swift executor. Code isolated to this actor runs on that thread.
///
/// A socket, its timers and the tasks that serve it stay on one loop, so they need neither locks nor thread hops. Code
/// on the loop MUST NOT block: slow calls go to a `BlockingPool`.
public actor EventLoop {
    nonisolated let executor: LoopExecutor
    private nonisolated let name: String
    private nonisolated let isStopRequested = Atomic(false)

    /// The descriptors, timers and tasks of this loop.
    public let poller: Poller

    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Creates a loop, which `run` or `start` runs.
    /// - Throws: if the kernel refuses a descriptor.
    public init(name: String) throws(SystemError) {
        try self.init(name: name) { sched_yield() }
    }

    /// - Parameter yield: yields the processor to another thread.
    init(name: String, yield: @escaping @Sendable () -> Void) throws(SystemError) {
        self.name = name
        executor = try LoopExecutor()
        let epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw .last("epoll_create1") }
        poller = Poller(epoll: epoll, executor: executor, yield: yield)
        let status = CLinuxWatch(epoll, EPOLL_CTL_ADD, executor.wakeDescriptor, 0, UInt32(CLinuxReadable))
        guard status == 0 else { throw SystemError(call: "epoll_ctl", number: -status) }
    }

    /// Runs the loop on the calling thread until `stop`.
    public nonisolated func run() {
        executor.adoptCurrentThread()
        defer { executor.leaveThread() }
        while !isStopRequested.load(ordering: .acquiring) {
            executor.runQueuedJobs()
            assumeIsolated { $0.poller.turn() }
        }
        assumeIsolated { $0.poller.end() }
    }

    /// Runs the loop on a new thread.
    public nonisolated func start() throws(SystemError) {
        try Thread.start(name: name) { self.run() }
    }

    /// Makes `run` return after the current turn, once no job is queued. Callable from any thread. Descriptors and
    /// timers are not served afterwards; tasks that resume later still run, see `LoopExecutor.leaveThread`.
    public nonisolated func stop() {
        isStopRequested.store(true, ordering: .releasing)
        executor.wake()
    }

    /// Makes this loop run `body` later, and returns at once. Callable from any thread.
    public nonisolated func post(_ body: @escaping @Sendable (isolated EventLoop) -> Void) {
        Task { await body(self) }
    }

    /// Runs `body` as a task of this loop and returns its result. Callable from any thread.
    ///
    /// Everything that `body` calls stays on the loop, even closures passed through code that was not compiled to stay
    /// on its caller's executor. In such code, a body isolated to this actor would leave the loop.
    public nonisolated func runTask<Value: Sendable>(
        _ body: @escaping @Sendable (Poller) async throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            post { loop in
                let poller = loop.poller
                poller.spawn {
                    do {
                        continuation.resume(returning: try await body(poller))
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        }
    }

    /// Runs `body` like `runTask`, and cancels it with the calling task.
    public nonisolated func runCancellableTask<Value: Sendable>(
        _ body: @escaping @Sendable (Poller) async -> Value
    ) async -> Value {
        let pending = PendingTask()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                post { loop in
                    let poller = loop.poller
                    pending.setTask(poller.spawnCancellable { continuation.resume(returning: await body(poller)) })
                }
            }
        } onCancel: {
            pending.cancel()
        }
    }
}

/// A task that may be cancelled before the event loop has started it.
private final class PendingTask: Sendable {
    private let state = Mutex<(task: Task<Void, Never>?, isCancelled: Bool)>((nil, false))

    /// Sets the started task, and cancels it if `cancel` was called before.
    func setTask(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }
}
