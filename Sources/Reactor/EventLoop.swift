import CLinux
import Glibc
import Synchronization

/// One thread, one epoll instance, one Swift executor: everything isolated to this actor runs on that thread.
///
/// Sockets, timers and the tasks that serve them live on one loop and never leave it, so they need no lock and no hop.
/// Code running here MUST NOT block: slow calls go to a `BlockingPool`.
public actor EventLoop {
    /// One turn runs the queued jobs, then due timers, then the events that epoll reports.
    private static let eventsPerTurn = 256

    nonisolated let executor: LoopExecutor
    public nonisolated let name: String
    private nonisolated let isStopRequested = Atomic(false)
    private let epoll: Int32
    private var handlers: [Watch?] = []
    private var lastGeneration: UInt32 = 0
    private var timers = TimerQueue()
    private var endOfTurn: [() -> Void] = []
    private var events = [CLinuxEvent](repeating: CLinuxEvent(), count: eventsPerTurn)

    /// The monotonic clock as read at the start of this turn.
    public private(set) var now = MonotonicTime.now()

    private struct Watch {
        let handler: any ReadinessHandler
        let generation: UInt32
        var interest: Interest
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Throws: when the kernel refuses a descriptor.
    public init(name: String) throws(SystemError) {
        self.name = name
        executor = try LoopExecutor()
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw .last("epoll_create1") }
        let refused = CLinuxWatch(epoll, EPOLL_CTL_ADD, executor.wakeDescriptor, 0, UInt32(CLinuxReadable))
        guard refused == 0 else { throw SystemError(call: "epoll_ctl", number: -refused) }
    }

    deinit { close(epoll) }

    // MARK: Running

    /// Runs the loop on the calling thread until `stop`.
    public nonisolated func run() {
        executor.adoptCurrentThread()
        while !isStopRequested.load(ordering: .acquiring) {
            executor.runQueuedJobs()
            assumeIsolated { loop in loop.turn() }
        }
    }

    /// Runs the loop on a thread of its own.
    public nonisolated func start() throws(SystemError) {
        try Thread.start(name: name) { self.run() }
    }

    /// Lets `run` return after the turn under way; callable from any thread.
    public nonisolated func stop() {
        isStopRequested.store(true, ordering: .releasing)
        executor.wake()
    }

    private func turn() {
        runEndOfTurn()
        let timeout = executor.hasJobs ? 0 : timeoutInMilliseconds()
        let count = unsafe events.withUnsafeMutableBufferPointer { events in
            unsafe CLinuxWait(epoll, events.baseAddress, Int32(events.count), timeout)
        }
        now = .now()
        for index in 0..<max(0, Int(count)) {
            let event = events[index]
            deliver(Readiness(rawValue: event.events), to: event.descriptor, generation: event.generation)
        }
        while let action = timers.takeDue(at: now) { action() }
    }

    private func deliver(_ events: Readiness, to descriptor: Int32, generation: UInt32) {
        if descriptor == executor.wakeDescriptor {
            executor.collectInbox()
            return
        }
        let index = Int(descriptor)
        // An event may be older than the descriptor's present owner: generations tell them apart.
        guard index < handlers.count, let watch = handlers[index], watch.generation == generation else { return }
        watch.handler.ready(events, on: self)
    }

    private func timeoutInMilliseconds() -> Int32 {
        guard let deadline = timers.nextDeadline() else { return -1 }
        let current = MonotonicTime.now()
        guard deadline > current else { return 0 }
        return Int32(clamping: (deadline.nanoseconds - current.nanoseconds + 999_999) / 1_000_000)
    }

    // MARK: Descriptors

    /// Tells `handler` of `interest` on the descriptor, until `unwatch`. The loop keeps the handler alive.
    public func watch(
        _ descriptor: Int32, for interest: Interest, _ handler: any ReadinessHandler
    ) throws(SystemError) {
        lastGeneration &+= 1
        let refused = CLinuxWatch(epoll, EPOLL_CTL_ADD, descriptor, lastGeneration, interest.rawValue)
        guard refused == 0 else { throw SystemError(call: "epoll_ctl", number: -refused) }
        let index = Int(descriptor)
        while handlers.count <= index { handlers.append(nil) }
        handlers[index] = Watch(handler: handler, generation: lastGeneration, interest: interest)
    }

    public func change(_ descriptor: Int32, to interest: Interest) {
        let index = Int(descriptor)
        guard index < handlers.count, let watch = handlers[index], watch.interest != interest else { return }
        handlers[index]?.interest = interest
        _ = CLinuxWatch(epoll, EPOLL_CTL_MOD, descriptor, watch.generation, interest.rawValue)
    }

    /// Call before closing the descriptor.
    public func unwatch(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard index < handlers.count, handlers[index] != nil else { return }
        handlers[index] = nil
        _ = CLinuxWatch(epoll, EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    // MARK: Work

    /// Runs `action` on this loop at the deadline, or soon after.
    @discardableResult
    public func schedule(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerID {
        timers.add(deadline, action)
    }

    public func cancel(_ timer: TimerID) { timers.cancel(timer) }

    /// Runs `action` once, just before the loop next waits: the place to send what a turn has gathered in one write.
    public func atEndOfTurn(_ action: @escaping () -> Void) { endOfTurn.append(action) }

    private func runEndOfTurn() {
        guard !endOfTurn.isEmpty else { return }
        let actions = endOfTurn
        endOfTurn.removeAll(keepingCapacity: true)
        for action in actions { action() }
    }

    /// Starts a task on this loop. What it captures stays on the loop, so it need not be Sendable.
    public func spawn(_ body: @escaping () async -> Void) {
        Task {
            _ = self
            await body()
        }
    }

    /// Runs `body` on this loop; callable from any thread.
    public nonisolated func post(_ body: @escaping @Sendable (isolated EventLoop) -> Void) {
        Task { await body(self) }
    }
}
