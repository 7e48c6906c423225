import Reactor
import SQL

/// Statements that wait to be run in batches, in order of arrival.
///
/// At most `concurrency` batches are in flight. Other statements wait, each until its deadline. `runInBatch`
/// refuses a statement while `Database.Limits.waitingRequests` wait. While any batch is in flight, the next starts only
/// when it is full or its oldest statement has waited for `gatheringTime`, because fewer and larger batches cost less
/// in all.
final class StatementQueue {
    final class Entry {
        let statement: SQL
        /// The key of the statement's shape, for statements that can be merged; nil for others.
        let statementKey: SQL.StatementKey?
        /// The key of a write; the same for all reads.
        let key: GroupCommit.Key
        /// The time at which the entry came to this queue; `takeOver` sets it again.
        fileprivate(set) var arrival: MonotonicTime
        /// The time at which the request stops waiting: for its turn, a session and locks.
        let deadline: MonotonicTime
        private let continuation: Continuation

        init(
            _ statement: SQL, statementKey: SQL.StatementKey?, key: GroupCommit.Key, arrival: MonotonicTime,
            deadline: MonotonicTime, _ continuation: Continuation
        ) {
            self.statement = statement
            self.statementKey = statementKey
            self.key = key
            self.arrival = arrival
            self.deadline = deadline
            self.continuation = continuation
        }

        func finish(_ result: Result<Rows, PostgresError>) { continuation.resume(returning: LoopBound(value: result)) }
    }

    typealias Continuation = CheckedContinuation<LoopBound<Result<Rows, PostgresError>>, Never>

    private static let gatheringTime = Duration.milliseconds(10)

    private let poller: Poller
    private let limits: Database.Limits
    private let batchLimit: Int
    private let concurrency: Int
    /// Whether keys take turns, with one batch at a time for each.
    private let isFair: Bool
    private let fits: (Entry, [Entry]) -> Bool
    private let run: ([Entry]) async -> Void
    private var pending: [Entry] = []
    private var selection = BatchSelection<GroupCommit.Key>()
    private var runningBatches = 0
    private var isBatchStartScheduled = false
    /// The timer for the earliest deadline; it may fire before.
    private lazy var expiryTimer = DeadlineTimer(poller) { [weak self] in self?.refuseExpired() }
    /// The timer for the time at which a batch that is not full has waited long enough.
    private lazy var gatheringTimer = DeadlineTimer(poller) { [weak self] in self?.startDueBatches() }
    /// The number of batches so far.
    private(set) var batchCount = 0
    /// The number of statements refused because too many waited, or they waited too long.
    private(set) var refusalCount = 0

    /// - Parameters:
    ///   - batchLimit: the largest number of statements in a batch.
    ///   - isFair: whether keys take turns, with one batch at a time for each.
    ///   - fits: whether a statement may join a non-empty batch.
    ///   - run: runs a batch and finishes each of its entries.
    init(
        _ database: Database, batchLimit: Int, concurrency: Int, isFair: Bool = false,
        fits: @escaping (Entry, [Entry]) -> Bool,
        run: @escaping ([Entry]) async -> Void
    ) {
        poller = database.poller
        limits = database.limits
        self.batchLimit = batchLimit
        self.concurrency = concurrency
        self.isFair = isFair
        self.fits = fits
        self.run = run
    }

    /// Queues the statement, waits for its batch, and returns the statement's rows.
    /// - Throws: the statement's error, or `unavailable` if too many statements wait, this one has waited too long, or
    ///   the task was cancelled.
    func runInBatch(
        _ statement: SQL, statementKey: SQL.StatementKey?, key: GroupCommit.Key = GroupCommit.Key(high: 0, low: 0),
        until deadline: MonotonicTime
    ) async throws(PostgresError) -> Rows {
        guard pending.count < limits.waitingRequests else {
            refusalCount += 1
            throw .unavailable("too many requests are waiting")
        }
        var entry: Entry?
        let result = await poller.waitUnlessCancelled { continuation in
            let newEntry = Entry(
                statement, statementKey: statementKey, key: key, arrival: poller.now, deadline: deadline, continuation)
            entry = newEntry
            pending.append(newEntry)
            expiryTimer.arm(for: deadline)
            scheduleBatchStart()
        } onCancel: { [self] in
            if let entry { cancel(entry) }
        }
        return try result.value.get()
    }

    /// Removes a statement whose task was cancelled, unless it is in flight.
    private func cancel(_ entry: Entry) {
        guard let index = pending.firstIndex(where: { $0 === entry }) else { return }
        pending.remove(at: index).finish(.failure(.cancelled))
    }

    /// Takes entries from another queue, without a limit on their number: they were admitted there.
    func takeOver(_ entries: [Entry]) {
        for entry in entries { entry.arrival = poller.now }
        pending += entries
        expiryTimer.arm(for: entries.earliestDeadline)
        scheduleBatchStart()
    }

    /// Starts the due batches at the end of the loop's turn, so that statements of the same turn share a batch.
    private func scheduleBatchStart() {
        guard !isBatchStartScheduled, runningBatches < concurrency else { return }
        isBatchStartScheduled = true
        poller.runAtEndOfTurn { [self] in
            isBatchStartScheduled = false
            startDueBatches()
        }
    }

    /// Starts the batches that are due.
    private func startDueBatches() {
        while isBatchDue {
            let batch = takeBatch()
            runningBatches += 1
            batchCount += 1
            poller.spawn { [self] in
                await run(batch)
                runningBatches -= 1
                if isFair { selection.endBatch(of: batch.map(\.key), hasPending: !pending.isEmpty) }
                startDueBatches()
            }
        }
        armGatheringTimer()
    }

    private var isBatchDue: Bool {
        guard runningBatches < concurrency, let oldest = oldestReadyEntry else { return false }
        return runningBatches == 0 || isBatchFull || oldest.arrival + Self.gatheringTime <= poller.now
    }

    /// The oldest entry; in a fair queue, the oldest whose key has no batch in flight.
    private var oldestReadyEntry: Entry? {
        isFair ? pending.first { selection.canTake($0.key) } : pending.first
    }

    private var isBatchFull: Bool {
        guard pending.count >= batchLimit else { return false }
        return !isFair || pending.count { selection.canTake($0.key) } >= batchLimit
    }

    /// Arms the timer for the time at which the oldest entry has waited long enough.
    private func armGatheringTimer() {
        guard runningBatches < concurrency, let oldest = oldestReadyEntry else { return }
        gatheringTimer.arm(for: oldest.arrival + Self.gatheringTime)
    }

    private func takeBatch() -> [Entry] {
        if isFair {
            return selection.takeBatch(from: &pending, limit: batchLimit, key: \.key, fits: fits)
        }
        var batch: [Entry] = []
        pending.removeAll { entry in
            guard batch.isEmpty || (batch.count < batchLimit && fits(entry, batch)) else { return false }
            batch.append(entry)
            return true
        }
        return batch
    }

    private func refuseExpired() {
        let expired = pending.filter { $0.deadline <= poller.now }
        pending.removeAll { $0.deadline <= poller.now }
        refusalCount += expired.count
        for entry in expired { entry.finish(.failure(.unavailable("no session became free in time"))) }
        expiryTimer.arm(for: pending.earliestDeadline)
    }
}

extension [StatementQueue.Entry] {
    /// The earliest deadline; nil if there is no entry.
    var earliestDeadline: MonotonicTime? { lazy.map(\.deadline).min() }
}
