import CLinux
import Dispatch
import Glibc
import Synchronization

/// The executor behind an `EventLoop`: jobs run on the loop's one thread, between its waits for events.
///
/// It is the actor's serial executor; `tasks` beside it is the preferred executor of tasks started on the loop, so that
/// code that is isolated to nothing stays on the loop too. Both feed one queue, and each job runs as what it was enqueued
/// as: the runtime would otherwise see a change of executor, and queue the job again, at every call.
///
/// A job enqueued from the loop's own thread goes into a plain array; from any other thread it takes a lock and wakes
/// the loop through an eventfd. The only unsynchronised state (`local`) is touched by the loop's thread alone, which is
/// why the class may call itself Sendable.
final class LoopExecutor: SerialExecutor, @unchecked Sendable {
    /// Readable when another thread has put something into the inbox.
    let wakeDescriptor: Int32

    fileprivate struct Entry {
        let job: UnownedJob
        /// What the job was enqueued on; nil is the serial executor.
        let taskExecutor: LoopTaskExecutor?
    }

    private struct Inbox {
        var entries: [Entry] = []
        var isWakePending = false
        /// The loop's thread has ended: a wake starts `runUntilEmpty` on a thread of the system's pool.
        var hasLoopEnded = false
    }

    private let inbox = Locked(Inbox())
    private static let lastNumber = Atomic<UInt64>(0)
    /// What the thread that runs this loop's jobs calls itself by.
    private let number = lastNumber.add(1, ordering: .relaxed).newValue
    private var local: [Entry] = []
    private var running: [Entry] = []

    init() throws(SystemError) {
        wakeDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeDescriptor >= 0 else { throw .last("eventfd") }
    }

    deinit { close(wakeDescriptor) }

    /// Makes the calling thread the one that runs jobs.
    func adoptCurrentThread() {
        CLinuxSetLoop(number)
    }

    /// Ends the calling thread's time as the loop's thread, after all queued jobs have run. Jobs enqueued from then on run
    /// on a thread of the system's pool, still one at a time: a task that awaits something of this loop never hangs.
    func leaveThread() { runUntilEmpty() }

    /// Runs jobs on the calling thread until none is left. No other thread may run jobs meanwhile.
    private func runUntilEmpty() {
        adoptCurrentThread()
        while true {
            let isDone = inbox.withLock { inbox in
                local.append(contentsOf: inbox.entries)
                inbox.entries.removeAll()
                guard local.isEmpty else { return false }
                inbox.hasLoopEnded = true
                inbox.isWakePending = false
                CLinuxSetLoop(0)
                return true
            }
            if isDone { return }
            runQueuedJobs()
        }
    }

    var isOnLoopThread: Bool { CLinuxLoop() == number }

    func enqueue(_ job: consuming ExecutorJob) { enqueue(Entry(job: UnownedJob(job), taskExecutor: nil)) }

    fileprivate func enqueue(_ entry: Entry) {
        if isOnLoopThread {
            local.append(entry)
            return
        }
        // Within the lock: once the loop can see the job it may run it, and with it the last reference to this may go.
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

    /// Makes the loop look at its inbox; callable from any thread.
    func wake() {
        var one: UInt64 = 1
        _ = unsafe write(wakeDescriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Moves what other threads enqueued into the local queue.
    func collectInbox() {
        var count: UInt64 = 0
        _ = unsafe read(wakeDescriptor, &count, MemoryLayout<UInt64>.size)
        inbox.withLock { inbox in
            inbox.isWakePending = false
            local.append(contentsOf: inbox.entries)
            inbox.entries.removeAll(keepingCapacity: true)
        }
    }

    var hasJobs: Bool { !local.isEmpty }

    /// Runs the jobs that are queued now; those they enqueue wait for the next round, so that events get their turn.
    func runQueuedJobs() {
        swap(&local, &running)
        let serial = unsafe asUnownedSerialExecutor()
        for entry in running {
            if let taskExecutor = entry.taskExecutor {
                unsafe entry.job.runSynchronously(on: taskExecutor.asUnownedTaskExecutor())
            } else {
                unsafe entry.job.runSynchronously(on: serial)
            }
        }
        running.removeAll(keepingCapacity: true)
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

    func checkIsolated() {
        precondition(isOnLoopThread, "not on the event loop's thread")
    }

    func isIsolatingCurrentContext() -> Bool? { isOnLoopThread }
}

/// The task-executor side of a `LoopExecutor`, which it keeps alive: a suspended task may outlive its loop.
final class LoopTaskExecutor: TaskExecutor {
    private let loop: LoopExecutor

    init(loop: LoopExecutor) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        loop.enqueue(LoopExecutor.Entry(job: UnownedJob(job), taskExecutor: self))
    }

    func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }
}
