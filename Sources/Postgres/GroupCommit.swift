import Reactor
import SQL

/// Lets writes of concurrent requests share one durable transaction, so that throughput is not limited by one commit
/// per request.
///
/// Each write MUST be one statement that decides itself whether it applies (it returns no row if not), and its key MUST
/// name the lock it takes. The statements of a batch run in key order, so batches cannot deadlock. Mergeable writes of
/// one shape with different keys become one statement (`SQL.merged`), which is a batch of its own. If a statement
/// fails, the batch is rolled back and each statement runs alone. Writes of a key whose lock is held for long go to a
/// separate queue until one of them ends without a timeout, so they delay other keys at most once. Results are returned
/// only after the commit; if the process dies before, a write is either complete or absent. Keys take turns, and each
/// is in one batch at a time: neither a key with many writes nor one with a held lock delays the others.
public final class GroupCommit {
    /// The key of a write, by which the writes of a batch are ordered: the family's ID.
    public struct Key: Hashable, Sendable, Comparable {
        /// The upper 64 bits of the ID.
        let high: UInt64
        /// The lower 64 bits of the ID.
        let low: UInt64

        public init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        public static func < (left: Key, right: Key) -> Bool { (left.high, left.low) < (right.high, right.low) }
    }

    /// The maximum number of writes of one key that run, each alone, before another key's turn.
    private static let soloBatchLimit = 4
    /// The time that is kept free before the deadline of a batch, so that its writes can still run alone if one of them
    /// does not get its lock.
    private static let soloReserve = Duration.milliseconds(400)

    private let database: Database
    private let sharedQueue: StatementQueue
    /// The writes that run alone, because their batch failed or their key is suspected.
    private let soloQueue: StatementQueue
    /// The writes of contended keys, which run alone too.
    private let contendedQueue: StatementQueue
    private let keys: SoloKeys
    /// The number of batches that the shared queue has started, including those with a single write.
    public var sharedBatchCount: Int { sharedQueue.batchCount }
    /// The number of writes refused because too many waited, or they waited too long.
    public var refusalCount: Int { sharedQueue.refusalCount + soloQueue.refusalCount + contendedQueue.refusalCount }

    /// - Parameters:
    ///   - batchLimit: the largest number of writes in a transaction.
    ///   - concurrency: the largest number of shared batches in flight on this loop.
    ///   - lockTimeout: how long a write that runs alone waits for a lock. A batch waits as long as the session's
    ///     setting says, or less if the deadline of one of its writes is near.
    public init(
        _ database: Database, batchLimit: Int = 48, concurrency: Int = 2,
        lockTimeout: Duration = .milliseconds(300)
    ) {
        let keys = SoloKeys()
        let soloWriter = SoloWriter(database, keys, lockTimeout: lockTimeout)
        let hasSameKey = { (write: StatementQueue.Entry, batch: [StatementQueue.Entry]) in write.key == batch[0].key }
        let contendedQueue = StatementQueue(
            database, batchLimit: Self.soloBatchLimit, concurrency: 1, isFair: true, fits: hasSameKey,
            run: { batch in await soloWriter.run(batch, handingOverTo: nil) })
        let soloQueue = StatementQueue(
            database, batchLimit: Self.soloBatchLimit, concurrency: 1, isFair: true, fits: hasSameKey,
            run: { batch in
                if keys.contended.contains(batch[0].key) {
                    contendedQueue.takeOver(batch)
                } else {
                    await soloWriter.run(batch, handingOverTo: contendedQueue)
                }
            })
        sharedQueue = StatementQueue(
            database, batchLimit: batchLimit, concurrency: concurrency, isFair: true,
            fits: { write, batch in
                // In a merged statement each key occurs once.
                write.statementKey == batch[0].statementKey
                    && (write.statementKey == nil || !batch.contains { $0.key == write.key })
            },
            run: { batch in
                // Some keys may have become contended while their writes waited.
                let soloWrites = batch.filter { keys.contains($0.key) }
                if !soloWrites.isEmpty { soloQueue.takeOver(soloWrites) }
                let otherWrites = soloWrites.isEmpty ? batch : batch.filter { !keys.contains($0.key) }
                if otherWrites.isEmpty { return }
                await Self.commit(otherWrites.sorted { $0.key < $1.key }, fallback: soloQueue, keys, on: database)
            })
        (self.database, self.soloQueue, self.contendedQueue, self.keys) = (database, soloQueue, contendedQueue, keys)
    }

    /// Runs the statement in a shared transaction, and returns its rows after the commit.
    /// - Parameters:
    ///   - canMerge: whether the statement contains `SQL.requestTable`.
    ///   - deadline: when the write stops waiting; by default that of a request that comes now.
    public func run(
        _ statement: SQL, key: Key, canMerge: Bool = false, until deadline: MonotonicTime? = nil
    ) async throws(PostgresError) -> Rows {
        let queue =
            keys.contended.contains(key) ? contendedQueue : keys.suspected.contains(key) ? soloQueue : sharedQueue
        return try await queue.runInBatch(
            statement, statementKey: canMerge ? statement.statementKey : nil, key: key,
            until: deadline ?? database.newRequestDeadline)
    }

    /// Commits the writes in one transaction. If that fails, the writes that may still succeed go to the fallback
    /// queue.
    private static func commit(
        _ batch: [StatementQueue.Entry], fallback soloQueue: StatementQueue, _ keys: SoloKeys,
        on database: Database
    ) async {
        do {
            let results = try await runInOneTransaction(batch, on: database)
            for (write, rows) in zip(batch, results) { write.finish(.success(rows)) }
        } catch {
            if error.isLockOrStatementTimeout { keys.suspected.formUnion(batch.map(\.key)) }
            let now = database.poller.now
            if case .refused = error, batch.count > 1 || error.isTransactionConflict {
                // One statement failed: the whole batch was rolled back.
                soloQueue.takeOver(batch)
            } else if case .unavailable = error, batch.contains(where: { $0.deadline <= now }) {
                // Nothing was sent: the batch waited until its first deadline. The other writes have time left.
                for write in batch where write.deadline <= now { write.finish(.failure(error)) }
                soloQueue.takeOver(batch.filter { $0.deadline > now })
            } else {
                for write in batch { write.finish(.failure(error)) }
            }
        }
    }

    private static func runInOneTransaction(
        _ batch: [StatementQueue.Entry], on database: Database
    ) async throws(PostgresError) -> [Rows] {
        let (statements, deadline) = (batch.map(\.statement), batch.earliestDeadline)
        if batch[0].statementKey != nil,
            let rows = try await database.runMerged(statements, use: .write, until: deadline, reserving: soloReserve)
        {
            return rows
        }
        return try await database.pipeline(statements, use: .write, until: deadline, reserving: soloReserve)
    }
}

/// Keys whose writes do not join shared batches.
private final class SoloKeys {
    /// Keys of batches in which a statement did not get its lock.
    var suspected: Set<GroupCommit.Key> = []
    /// Keys whose last write did not get its lock although it ran alone.
    var contended: Set<GroupCommit.Key> = []

    func contains(_ key: GroupCommit.Key) -> Bool {
        (!suspected.isEmpty && suspected.contains(key)) || (!contended.isEmpty && contended.contains(key))
    }
}

/// Runs writes one at a time, each in its own transaction.
private struct SoloWriter {
    /// The maximum number of attempts of a write that fails with a deadlock or a serialisation failure.
    private static let attemptLimitPerWrite = 3

    private let database: Database
    private let keys: SoloKeys
    private let lockTimeout: Duration

    init(_ database: Database, _ keys: SoloKeys, lockTimeout: Duration) {
        self.database = database
        self.keys = keys
        self.lockTimeout = lockTimeout
    }

    /// Runs writes of one key. If one does not get its lock, it and the writes after it go to `queue`; if `queue` is
    /// nil, all of them fail, because they have waited for the same lock.
    func run(_ batch: [StatementQueue.Entry], handingOverTo queue: StatementQueue?) async {
        for (index, write) in batch.enumerated() {
            let result = await run(write.statement, until: write.deadline)
            guard case .failure(let error) = result, error.isLockOrStatementTimeout else {
                keys.suspected.remove(write.key)
                keys.contended.remove(write.key)
                write.finish(result)
                continue
            }
            keys.contended.insert(write.key)
            let waitingWrites = Array(batch[index...])
            if let queue { queue.takeOver(waitingWrites) } else { waitingWrites.forEach { $0.finish(result) } }
            return
        }
    }

    private func run(_ statement: SQL, until deadline: MonotonicTime) async -> Result<Rows, PostgresError> {
        var attempts = 0
        while true {
            attempts += 1
            do {
                // A transaction uses its session alone, so no other statement waits behind this one for the lock.
                return .success(
                    try await database.transaction(until: deadline, lockTimeout: lockTimeout) {
                        try await $0.query(statement)
                    })
            } catch let error as PostgresError {
                if !error.isTransactionConflict || attempts == Self.attemptLimitPerWrite { return .failure(error) }
            } catch {
                return .failure(.unavailable("\(error)"))
            }
        }
    }
}
