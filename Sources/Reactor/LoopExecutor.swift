import CLinux
import Dispatch
import Glibc
import Synchronization

/// The executor of an `EventLoop`. It runs jobs on the loop's thread, between waits for events.
///
/// This is the actor's serial executor. `LoopTaskExecutor` is the preferred executor of tasks started on the loop, so
/// that nonisolated code stays on the loop too. Both executors use one queue, and each job runs on the executor on
/// which it was enqueued; otherwise the runtime would see a change of executor and enqueue the job again at every call.
///
/// A job enqueued on the loop's thread goes to a plain array. A job from another thread takes a lock and wakes the loop
/// through an eventfd. The class is Sendable because only the loop's thread uses the unsynchronised state
/// (`localEntries` and `runningEntries`).
final class LoopExecutor: SerialExecutor, @unchecked Sendable {
    /// The eventfd, which is readable when the inbox has jobs of other threads.
    let wakeDescriptor: Int32

    fileprivate struct Entry {
        let job: UnownedJob
        /// The executor of the job; nil for the serial executor.
        let taskExecutor: LoopTaskExecutor?
    }

    private struct Inbox {
        var entries: [Entry] = []
        var isWakePending = false
        /// Whether no thread runs the loop any more. A new job then starts `runUntilEmpty` on a global dispatch queue.
        var hasLoopEnded = false
    }

    private let inbox = Locked(Inbox())
    private static let lastLoopNumber = Atomic<UInt64>(0)
    /// The number of the loop, set in the thread that runs its jobs.
    private let loopNumber = lastLoopNumber.add(1, ordering: .relaxed).newValue
    private var localEntries: [Entry] = []
    private var runningEntries: [Entry] = []

    init() throws(SystemError) {
        wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeDescriptor >= 0 else { throw .last("eventfd") }
    }

    deinit { close(wakeDescriptor) }

    /// Makes the calling thread the one that runs jobs.
    func adoptCurrentThread() {
        CLinuxSetLoop(loopNumber)
    }

    /// Ends the calling thread's role as the loop's thread, after all queued jobs have run. Later jobs run on a global
    /// dispatch queue, one at a time, so that a task that waits for this loop does not hang.
    func leaveThread() { runUntilEmpty() }

    /// Runs jobs on the calling thread until none is left. No other thread may run jobs meanwhile.
    private func runUntilEmpty() {
        adoptCurrentThread()
        while true {
            let isDone = inbox.withLock { inbox in
                localEntries.append(contentsOf: inbox.entries)
                inbox.entries.removeAll()
                guard localEntries.isEmpty else { return false }
                inbox.hasLoopEnded = true
                inbox.isWakePending = false
                CLinuxSetLoop(0)
                return true
            }
            if isDone { return }
            runQueuedJobs()
        }
    }

    var isOnLoopThread: Bool { CLinuxLoop() == loopNumber }

    func enqueue(_ job: consuming ExecutorJob) { enqueue(Entry(job: UnownedJob(job), taskExecutor: nil)) }

    fileprivate func enqueue(_ entry: Entry) {
        if isOnLoopThread {
            localEntries.append(entry)
            return
        }
        // The loop is woken inside the lock: once it sees the job, it may run it and release the last reference to this
        // object.
        inbox.withLock { inbox in
            inbox.entries.append(entry)
            guard !inbox.isWakePending else { return }
            inbox.isWakePending = true
            if inbox.hasLoopEnded {
                DispatchQueue.global().async { self.runUntilEmpty() }
            } else {
                wake()
            }
        }
    }

    /// Makes the loop read its inbox. Callable from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = unsafe write(wakeDescriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Moves jobs of other threads to the local queue.
    func collectInbox() {
        var count: UInt64 = 0
        _ = unsafe read(wakeDescriptor, &count, MemoryLayout<UInt64>.size)
        inbox.withLock { inbox in
            inbox.isWakePending = false
            localEntries.append(contentsOf: inbox.entries)
            inbox.entries.removeAll(keepingCapacity: true)
        }
    }

    var hasLocalJobs: Bool { !localEntries.isEmpty }

    /// Runs the jobs queued now. Jobs that they enqueue run in the next round, after events.
    func runQueuedJobs() {
        swap(&localEntries, &runningEntries)
        let serial = unsafe asUnownedSerialExecutor()
        for entry in runningEntries {
            if let taskExecutor = entry.taskExecutor {
                unsafe entry.job.runSynchronously(on: taskExecutor.asUnownedTaskExecutor())
            } else {
                unsafe entry.job.runSynchronously(on: serial)
            }
        }
        runningEntries.removeAll(keepingCapacity: true)
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

    func checkIsolated() {
        precondition(isOnLoopThread, "not on the event loop's thread")
    }

    func isIsolatingCurrentContext() -> Bool? { isOnLoopThread }
}

/// The task executor of a `LoopExecutor`. It keeps the loop executor alive, because a suspended task may outlive the
/// loop.
final class LoopTaskExecutor: TaskExecutor {
    private let loop: LoopExecutor

    init(loop: LoopExecutor) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        loop.enqueue(LoopExecutor.Entry(job: UnownedJob(job), taskExecutor: self))
    }

    func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }
}
