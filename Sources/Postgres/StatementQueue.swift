import Reactor
import SQL

/// Statements that wait for their turn, first come first served, to be run together with those behind them that fit.
///
/// At most `concurrency` batches are under way. What comes meanwhile waits: as many as may wait for a session, and as long.
/// While one is under way the next leaves only when it is full or has waited for `gatheringTime`: fewer and larger batches cost
/// everybody less, and a slow one holds nobody up for long.
final class StatementQueue {
    final class Entry {
        let statement: SQL
        /// Statements of one shape can be merged; nil for one that cannot.
        let statementKey: SQL.StatementKey?
        let key: GroupCommit.Key
        fileprivate(set) var arrival: MonotonicTime
        private let continuation: Continuation

        init(
            _ statement: SQL, statementKey: SQL.StatementKey?, key: GroupCommit.Key, arrival: MonotonicTime,
            _ continuation: Continuation
        ) {
            self.statement = statement
            self.statementKey = statementKey
            self.key = key
            self.arrival = arrival
            self.continuation = continuation
        }

        func finish(_ result: Result<Rows, PostgresError>) { continuation.resume(returning: LoopBound(value: result)) }
    }

    typealias Continuation = CheckedContinuation<LoopBound<Result<Rows, PostgresError>>, Never>

    private static let gatheringTime = Duration.milliseconds(5)

    private let poller: Poller
    private let limits: Database.Limits
    private let batchLimit: Int
    private let concurrency: Int
    /// Whether the keys take turns, one batch at a time for each.
    private let isFair: Bool
    private let fits: (Entry, [Entry]) -> Bool
    private let run: ([Entry]) async -> Void
    private var pending: [Entry] = []
    private var selection = BatchSelection<GroupCommit.Key>()
    private var running = 0
    private var isFlushScheduled = false
    /// For the one who has waited longest.
    private lazy var expiry = DeadlineTimer(poller) { [weak self] in self?.refuseExpired() }
    /// For the batch that is not full.
    private lazy var gathering = DeadlineTimer(poller) { [weak self] in self?.flush() }
    /// How many batches there were so far.
    private(set) var batches = 0

    /// - Parameters:
    ///   - batchLimit: how many statements are run together at most.
    ///   - isFair: whether the keys take turns, each with one batch at a time.
    ///   - fits: whether a statement may join a batch that has some already.
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

    /// - Throws: what running it came to, or `unavailable` when too many wait, or when it has waited for too long.
    func rows(
        of statement: SQL, statementKey: SQL.StatementKey?, key: GroupCommit.Key = GroupCommit.Key(high: 0, low: 0)
    ) async throws(PostgresError) -> Rows {
        guard pending.count < limits.queue else { throw .unavailable("too many requests are waiting") }
        var entry: Entry?
        let result = await poller.waitUnlessCancelled { continuation in
            let waiting = Entry(statement, statementKey: statementKey, key: key, arrival: poller.now, continuation)
            entry = waiting
            pending.append(waiting)
            watch()
            scheduleFlush()
        } onCancel: { [self] in
            if let entry { cancel(entry) }
        }
        return try result.value.get()
    }

    /// Whoever waits for it has gone: what is not under way yet is not run, and its place is free at once.
    private func cancel(_ entry: Entry) {
        guard let index = pending.firstIndex(where: { $0 === entry }) else { return }
        pending.remove(at: index).finish(.failure(.cancelled))
        watch()
    }

    /// Has entries of another queue wait here anew, whatever their number: they were taken in before.
    func takeOver(_ entries: [Entry]) {
        for entry in entries { entry.arrival = poller.now }
        pending += entries
        watch()
        scheduleFlush()
    }

    /// What arrives in the same turn of the loop is there by then.
    private func scheduleFlush() {
        guard !isFlushScheduled, running < concurrency else { return }
        isFlushScheduled = true
        poller.atEndOfTurn { [self] in
            isFlushScheduled = false
            flush()
        }
    }

    private func flush() {
        while isBatchDue {
            let batch = takeBatch()
            running += 1
            batches += 1
            poller.spawn { [self] in
                await run(batch)
                running -= 1
                if isFair { selection.ended(batch.map(\.key), stillPending: !pending.isEmpty) }
                flush()
            }
        }
        gather()
    }

    private var isBatchDue: Bool {
        guard running < concurrency, let oldest = oldestReady else { return false }
        return running == 0 || isBatchFull || oldest.arrival + Self.gatheringTime <= poller.now
    }

    /// The oldest whose key is not under way.
    private var oldestReady: Entry? {
        isFair ? pending.first { selection.mayTake($0.key) } : pending.first
    }

    private var isBatchFull: Bool {
        guard pending.count >= batchLimit else { return false }
        return !isFair || pending.count { selection.mayTake($0.key) } >= batchLimit
    }

    /// Looks again when the oldest has waited for long enough.
    private func gather() {
        guard running < concurrency, let oldest = oldestReady else { return }
        gathering.arm(for: oldest.arrival + Self.gatheringTime)
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

    private func watch() { expiry.arm(for: pending.first.map { $0.arrival + limits.acquireTimeout }) }

    private func refuseExpired() {
        while let oldest = pending.first, oldest.arrival + limits.acquireTimeout <= poller.now {
            pending.removeFirst().finish(.failure(.unavailable("no session became free in time")))
        }
        watch()
    }
}
