import CLinux
import Glibc

/// A loop's descriptors, timers and tasks, for the objects that live on that loop.
///
/// It is not Sendable: `EventLoop.poller` hands it out on the loop's thread only, and what holds it cannot leave.
public final class Poller {
    /// The monotonic clock as read at the start of this turn.
    public private(set) var now = MonotonicTime.now()

    private static let eventsPerTurn = 256

    private let epoll: Int32
    private let executor: LoopExecutor
    /// The preferred executor of tasks on this loop.
    private let tasks: LoopTaskExecutor
    private var watches: [Watch?] = []
    private var lastGeneration: UInt32 = 0
    private var timers = TimerQueue()
    private var endOfTurn: [() -> Void] = []
    /// Long work that waits for its next slice.
    private var slices: [CheckedContinuation<Void, Never>] = []
    /// There are no more turns.
    private var hasEnded = false
    private var events = [CLinuxEvent](repeating: CLinuxEvent(), count: eventsPerTurn)

    private struct Watch {
        let handler: any ReadinessHandler
        let generation: UInt32
        var interest: Interest
    }

    /// - Parameter epoll: closed with the poller.
    init(epoll: Int32, executor: LoopExecutor) {
        self.epoll = epoll
        self.executor = executor
        tasks = LoopTaskExecutor(loop: executor)
    }

    deinit { close(epoll) }

    /// Traps unless the caller runs on this loop.
    public func assertIsolated() { assert(executor.isOnLoopThread, "not on the event loop's thread") }

    // MARK: Descriptors

    /// Tells `handler` of `interest` on the descriptor, level-triggered, until `unwatch`. Keeps the handler alive.
    public func watch(
        _ descriptor: Int32, for interest: Interest, _ handler: any ReadinessHandler
    ) throws(SystemError) {
        lastGeneration &+= 1
        let refused = CLinuxWatch(epoll, EPOLL_CTL_ADD, descriptor, lastGeneration, interest.rawValue)
        guard refused == 0 else { throw SystemError(call: "epoll_ctl", number: -refused) }
        let index = Int(descriptor)
        while watches.count <= index { watches.append(nil) }
        watches[index] = Watch(handler: handler, generation: lastGeneration, interest: interest)
    }

    public func change(_ descriptor: Int32, to interest: Interest) {
        let index = Int(descriptor)
        guard index < watches.count, let watch = watches[index], watch.interest != interest else { return }
        watches[index]?.interest = interest
        _ = CLinuxWatch(epoll, EPOLL_CTL_MOD, descriptor, watch.generation, interest.rawValue)
    }

    /// Call before closing the descriptor.
    public func unwatch(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard index < watches.count, watches[index] != nil else { return }
        watches[index] = nil
        _ = CLinuxWatch(epoll, EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    // MARK: Timers and tasks

    /// Runs `action` on this loop at the deadline, or soon after.
    @discardableResult
    public func schedule(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerID {
        timers.add(deadline, action)
    }

    public func cancel(_ timer: TimerID) { timers.cancel(timer) }

    /// Runs `action` once, just before the loop next waits: the place to send what a turn has gathered in one write. Called
    /// from such an action, it runs `action` in the next turn, which does not wait for events.
    public func atEndOfTurn(_ action: @escaping () -> Void) { endOfTurn.append(action) }

    /// Waits until the loop has turned. Of all that wait for a slice one goes on a turn, in the order in which they came: long
    /// work in slices holds up a turn by one slice, whatever its number.
    public func nextSlice() async {
        guard !hasEnded else { return await Task.yield() }
        await withCheckedContinuation { slices.append($0) }
    }

    /// The loop turns no more: nobody waits for a turn from now on.
    func end() {
        hasEnded = true
        let waiting = slices
        slices.removeAll()
        for slice in waiting { slice.resume() }
    }

    /// Starts a task on this loop. What it captures lives on the loop and stays there, so it need not be Sendable.
    public func spawn(_ body: @escaping () async -> Void) { _ = spawnCancellable(body) }

    /// As `spawn`, and returns the task for whoever may cancel it.
    public func spawnCancellable(_ body: @escaping () async -> Void) -> Task<Void, Never> {
        // Sound because both ends are this loop: the box is opened on the thread that made it.
        let bound = LoopBound(value: body)
        return Task(executorPreference: tasks) { await bound.value() }
    }

    /// Waits until the continuation that `begin` is handed is resumed. When the task is cancelled meanwhile, by any thread,
    /// `onCancel` runs on this loop: it resumes the continuation, unless somebody has.
    public func waitUnlessCancelled<Value: Sendable>(
        _ begin: (CheckedContinuation<Value, Never>) -> Void, onCancel: @escaping () -> Void
    ) async -> Value {
        let (tasks, bound) = (tasks, LoopBound(value: onCancel))
        return await withTaskCancellationHandler {
            await withCheckedContinuation { begin($0) }
        } onCancel: {
            // A task of its own, so that it comes after `begin` where the cancellation came before.
            Task(executorPreference: tasks) { bound.value() }
        }
    }

    // MARK: Turning

    /// Waits for events (no longer than the next timer, not at all when there is something to run) and delivers them.
    func turn() {
        runEndOfTurn()
        if !slices.isEmpty { slices.removeFirst().resume() }
        let timeout = executor.hasJobs || !endOfTurn.isEmpty ? 0 : timeoutInMilliseconds()
        let count = unsafe events.withUnsafeMutableBufferPointer { events in
            unsafe CLinuxWait(epoll, events.baseAddress, Int32(events.count), timeout)
        }
        now = .now()
        for index in 0..<max(0, Int(count)) {
            let event = events[index]
            if event.descriptor == executor.wakeDescriptor { executor.collectInbox() } else { deliver(event) }
        }
        while let action = timers.takeDue(at: now) { action() }
    }

    private func deliver(_ event: CLinuxEvent) {
        let index = Int(event.descriptor)
        // An event may be older than the descriptor's present owner: generations tell them apart.
        guard index < watches.count, let watch = watches[index], watch.generation == event.generation else { return }
        watch.handler.ready(Readiness(rawValue: event.events))
    }

    private func timeoutInMilliseconds() -> Int32 {
        guard let deadline = timers.nextDeadline() else { return -1 }
        let current = MonotonicTime.now()
        guard deadline > current else { return 0 }
        return Int32(clamping: (deadline.nanoseconds - current.nanoseconds + 999_999) / 1_000_000)
    }

    private func runEndOfTurn() {
        guard !endOfTurn.isEmpty else { return }
        let actions = endOfTurn
        endOfTurn.removeAll(keepingCapacity: true)
        for action in actions { action() }
    }
}
