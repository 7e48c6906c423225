import CLinux
import Glibc

/// The descriptors, timers and tasks of a loop.
///
/// The type is not Sendable: `EventLoop.poller` is available only on the loop's thread, so its users stay there.
public final class Poller {
    /// The monotonic time at which the loop last stopped waiting for events.
    public private(set) var now = MonotonicTime.now()

    private static let eventsPerTurn = 256

    private let epoll: Int32
    private let executor: LoopExecutor
    /// The preferred executor of tasks on this loop.
    private let taskExecutor: LoopTaskExecutor
    private var watches: [Watch?] = []
    private var lastGeneration: UInt32 = 0
    private var timers = TimerQueue()
    private var endOfTurnActions: [() -> Void] = []
    /// The tasks that wait for their next slice.
    private var sliceWaiters: [CheckedContinuation<Void, Never>] = []
    /// Whether the loop has stopped turning.
    private var hasEnded = false
    private var yieldBudget = YieldBudget(from: .now())
    /// The function that yields the processor to another thread; tests count its calls.
    private let yield: () -> Void
    private var events = [CLinuxEvent](repeating: CLinuxEvent(), count: eventsPerTurn)

    private struct Watch {
        let handler: any ReadinessHandler
        /// The number of this watch, by which `deliver` recognises events of an earlier watch of the same descriptor.
        let generation: UInt32
        var interest: Interest
    }

    /// - Parameter epoll: the descriptor, which the poller owns and closes.
    init(epoll: Int32, executor: LoopExecutor, yield: @escaping () -> Void) {
        self.epoll = epoll
        self.executor = executor
        self.yield = yield
        taskExecutor = LoopTaskExecutor(loop: executor)
    }

    deinit { close(epoll) }

    /// Traps in debug builds unless the caller runs on this loop.
    public func assertIsolated() { assert(executor.isOnLoopThread, "not on the event loop's thread") }

    // MARK: Descriptors

    /// Calls `handler` when the descriptor is ready for `interest` (level-triggered), until `unwatch`. Retains the
    /// handler.
    public func watch(
        _ descriptor: Int32, for interest: Interest, _ handler: any ReadinessHandler
    ) throws(SystemError) {
        lastGeneration &+= 1
        let status = CLinuxWatch(epoll, EPOLL_CTL_ADD, descriptor, lastGeneration, interest.rawValue)
        guard status == 0 else { throw SystemError(call: "epoll_ctl", number: -status) }
        let index = Int(descriptor)
        while watches.count <= index { watches.append(nil) }
        watches[index] = Watch(handler: handler, generation: lastGeneration, interest: interest)
    }

    /// Changes the events for which a watched descriptor is watched.
    public func changeInterest(of descriptor: Int32, to interest: Interest) {
        let index = Int(descriptor)
        guard index < watches.count, let watch = watches[index], watch.interest != interest else { return }
        watches[index]?.interest = interest
        _ = CLinuxWatch(epoll, EPOLL_CTL_MOD, descriptor, watch.generation, interest.rawValue)
    }

    /// Stops watching. Call it before closing the descriptor.
    public func unwatch(_ descriptor: Int32) {
        let index = Int(descriptor)
        guard index < watches.count, watches[index] != nil else { return }
        watches[index] = nil
        _ = CLinuxWatch(epoll, EPOLL_CTL_DEL, descriptor, 0, 0)
    }

    // MARK: Timers and tasks

    /// Runs `action` on this loop at the deadline or soon after.
    @discardableResult
    public func schedule(at deadline: MonotonicTime, _ action: @escaping () -> Void) -> TimerID {
        timers.add(deadline, action)
    }

    public func cancel(_ timer: TimerID) { timers.cancel(timer) }

    /// Runs `action` once, just before the loop waits again, for example to send what was collected during a turn. If
    /// called from such an action, it runs `action` in the next turn, which does not wait for events.
    public func runAtEndOfTurn(_ action: @escaping () -> Void) { endOfTurnActions.append(action) }

    /// Suspends until a later turn of the loop. Each turn resumes one waiting task, in order of arrival, so that long
    /// work in slices delays a turn by at most one slice.
    public func yieldSlice() async {
        guard !hasEnded else { return await Task.yield() }
        await withCheckedContinuation { sliceWaiters.append($0) }
    }

    /// Resumes all tasks that wait for a turn, because the loop has stopped.
    func end() {
        hasEnded = true
        let waiters = sliceWaiters
        sliceWaiters.removeAll()
        for waiter in waiters { waiter.resume() }
    }

    /// Starts a task on this loop. It stays on the loop, so its captures need not be Sendable.
    public func spawn(_ body: @escaping () async -> Void) { _ = spawnCancellable(body) }

    /// Like `spawn`, and returns the task so that it can be cancelled.
    public func spawnCancellable(_ body: @escaping () async -> Void) -> Task<Void, Never> {
        // This is sound because the task reads the value on the loop's thread, which creates it here.
        let loopBoundBody = LoopBound(value: body)
        return Task(executorPreference: taskExecutor) { await loopBoundBody.value() }
    }

    /// Runs `body` to its end on this loop, even if the calling task is cancelled meanwhile.
    public func runToCompletion<Value: Sendable>(_ body: @escaping () async throws -> Value) async throws -> Value {
        let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
            spawn {
                do { continuation.resume(returning: .success(try await body())) } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Suspends until the continuation passed to `begin` is resumed. If the task is cancelled meanwhile, on any thread,
    /// `onCancel` runs on this loop; it MUST resume the continuation unless that has been done.
    public func waitUnlessCancelled<Value: Sendable>(
        _ begin: (CheckedContinuation<Value, Never>) -> Void, onCancel: @escaping () -> Void
    ) async -> Value {
        let (taskExecutor, loopBoundAction) = (taskExecutor, LoopBound(value: onCancel))
        return await withTaskCancellationHandler {
            await withCheckedContinuation { begin($0) }
        } onCancel: {
            // A separate task, so that it runs after `begin` even if the task was cancelled before.
            Task(executorPreference: taskExecutor) { loopBoundAction.value() }
        }
    }

    // MARK: Turning

    /// Runs the actions of the last turn's end and resumes one waiting task. Then waits for events until the next timer
    /// (not at all if there are jobs or new actions), delivers them, and runs the timers that are due.
    func turn() {
        runEndOfTurnActions()
        if !sliceWaiters.isEmpty { sliceWaiters.removeFirst().resume() }
        let waitStart = MonotonicTime.now()
        if yieldBudget.takeYield(at: waitStart) { yield() }
        let timeout = executor.hasLocalJobs || !endOfTurnActions.isEmpty ? 0 : timeoutInMilliseconds(at: waitStart)
        let count = unsafe events.withUnsafeMutableBufferPointer { events in
            unsafe CLinuxWait(epoll, events.baseAddress, Int32(events.count), timeout)
        }
        now = .now()
        yieldBudget.recordWait(from: waitStart, to: now)
        for index in 0..<max(0, Int(count)) {
            let event = events[index]
            if event.descriptor == executor.wakeDescriptor { executor.collectInbox() } else { deliver(event) }
        }
        while let action = timers.takeNextDue(at: now) { action() }
    }

    private func deliver(_ event: CLinuxEvent) {
        let index = Int(event.descriptor)
        // The event may belong to an earlier owner of the descriptor: then the generations differ.
        guard index < watches.count, let watch = watches[index], watch.generation == event.generation else { return }
        watch.handler.handleReadiness(Readiness(rawValue: event.events))
    }

    private func timeoutInMilliseconds(at current: MonotonicTime) -> Int32 {
        guard let deadline = timers.peekDeadline() else { return -1 }
        guard deadline > current else { return 0 }
        return Int32(clamping: (deadline.nanoseconds - current.nanoseconds + 999_999) / 1_000_000)
    }

    private func runEndOfTurnActions() {
        guard !endOfTurnActions.isEmpty else { return }
        let actions = endOfTurnActions
        endOfTurnActions.removeAll(keepingCapacity: true)
        for action in actions { action() }
    }
}
