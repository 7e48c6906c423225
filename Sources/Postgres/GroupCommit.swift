import SQL

/// Lets writes of concurrent requests share one durable transaction, so that throughput is not bound by one commit a
/// request.
///
/// Each write MUST be one statement that decides by itself whether it applies (it returns no row when it does not) and
/// names the lock it takes by its key. The statements of a batch run in key order, so that batches never wait for each
/// other in a circle. Writes that say so and have the same shape and different keys become one statement (`SQL.merged`),
/// which is a batch by itself. When a statement is refused the batch is rolled back and each runs alone. Writes of a key
/// whose lock somebody else holds for long have a lane of their own until one of them comes through: who shared a batch
/// with such a one has waited for it once, and nobody does after. A result is handed over only after its commit; if the
/// process dies before, the write either happened whole or not at all. The keys take turns, and each is in one batch at a
/// time: neither a key with many writes nor one whose lock is held keeps the others from writing.
public final class GroupCommit {
    /// What the writes of a batch are ordered by: the family's id.
    public struct Key: Hashable, Sendable, Comparable {
        let high: UInt64
        let low: UInt64

        public init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }

        public static func < (left: Key, right: Key) -> Bool { (left.high, left.low) < (right.high, right.low) }
    }

    /// Writes of one key that run alone before another key has its turn.
    private static let soloLimit = 4

    private let shared: StatementQueue
    private let alone: StatementQueue
    private let contended: StatementQueue
    private let keys: ContendedKeys
    /// How many transactions the writes have shared so far.
    public var batches: Int { shared.batches }

    /// - Parameters:
    ///   - batchLimit: how many writes share a transaction at most.
    ///   - concurrency: how many batches of this loop are under way at most.
    ///   - lockTimeout: how long a write that runs alone waits for a lock; one in a batch waits as long as its session does.
    public init(
        _ database: Database, batchLimit: Int = 24, concurrency: Int = 2,
        lockTimeout: Duration = .milliseconds(300)
    ) {
        let keys = ContendedKeys()
        let runner = SoloWriter(database, keys, lockTimeout: lockTimeout)
        let isOfOneKey = { (write: StatementQueue.Entry, batch: [StatementQueue.Entry]) in write.key == batch[0].key }
        let contended = StatementQueue(
            database, batchLimit: Self.soloLimit, concurrency: 1, isFair: true, fits: isOfOneKey,
            run: { batch in await runner.run(batch, handingOverTo: nil) })
        let alone = StatementQueue(
            database, batchLimit: Self.soloLimit, concurrency: 1, isFair: true, fits: isOfOneKey,
            run: { batch in
                if keys.contended.contains(batch[0].key) {
                    contended.takeOver(batch)
                } else {
                    await runner.run(batch, handingOverTo: contended)
                }
            })
        shared = StatementQueue(
            database, batchLimit: batchLimit, concurrency: concurrency, isFair: true,
            fits: { write, batch in
                // Of a merged statement no two have one key.
                write.statementKey == batch[0].statementKey
                    && (write.statementKey == nil || !batch.contains { $0.key == write.key })
            },
            run: { batch in
                // Of some it has become known while they waited.
                let late = batch.filter { keys.contains($0.key) }
                if !late.isEmpty { alone.takeOver(late) }
                let rest = late.isEmpty ? batch : batch.filter { !keys.contains($0.key) }
                if !rest.isEmpty { await Self.commit(rest.sorted { $0.key < $1.key }, or: alone, keys, on: database) }
            })
        (self.alone, self.contended, self.keys) = (alone, contended, keys)
    }

    /// Runs the statement in a transaction shared with others, and returns its rows after the commit.
    /// - Parameter canMerge: whether it says itself how it is merged, with `SQL.requests`.
    public func run(_ statement: SQL, key: Key, canMerge: Bool = false) async throws(PostgresError) -> Rows {
        let queue = keys.contended.contains(key) ? contended : keys.suspected.contains(key) ? alone : shared
        return try await queue.rows(of: statement, statementKey: canMerge ? statement.statementKey : nil, key: key)
    }

    private static func commit(
        _ batch: [StatementQueue.Entry], or alone: StatementQueue, _ keys: ContendedKeys, on database: Database
    ) async {
        do {
            for (write, rows) in zip(batch, try await rows(of: batch, on: database)) { write.finish(.success(rows)) }
        } catch {
            if error.isOutOfTime { keys.suspected.formUnion(batch.map(\.key)) }
            if case .refused = error, batch.count > 1 || error.isRetryable {
                // One spoiled it for all: nothing of the batch was kept.
                alone.takeOver(batch)
            } else {
                for write in batch { write.finish(.failure(error)) }
            }
        }
    }

    private static func rows(
        of batch: [StatementQueue.Entry], on database: Database
    ) async throws(PostgresError) -> [Rows] {
        let statements = batch.map(\.statement)
        if batch[0].statementKey != nil, let rows = try await database.runMerged(statements, use: .write) {
            return rows
        }
        return try await database.pipeline(statements, use: .write)
    }
}

/// Keys whose writes share no batches.
private final class ContendedKeys {
    /// One of the batch that the last write was in could not get its lock.
    var suspected: Set<GroupCommit.Key> = []
    /// The last write could not get its lock although it ran alone.
    var contended: Set<GroupCommit.Key> = []

    func contains(_ key: GroupCommit.Key) -> Bool {
        (!suspected.isEmpty && suspected.contains(key)) || (!contended.isEmpty && contended.contains(key))
    }
}

/// Runs writes one at a time, each in a transaction of its own.
private struct SoloWriter {
    /// How often a deadlock or serialisation failure is tried again.
    private static let attemptLimit = 3

    private let database: Database
    private let keys: ContendedKeys
    private let lockTimeout: SQL

    init(_ database: Database, _ keys: ContendedKeys, lockTimeout: Duration) {
        self.database = database
        self.keys = keys
        self.lockTimeout = Transaction.lockTimeout(lockTimeout)
    }

    /// Runs writes of one key. Once one of them could not get its lock the others have waited for as long: all go to the
    /// other queue, or are told so where there is none.
    func run(_ batch: [StatementQueue.Entry], handingOverTo queue: StatementQueue?) async {
        for (index, write) in batch.enumerated() {
            let result = await run(write.statement)
            guard case .failure(let error) = result, error.isOutOfTime else {
                keys.suspected.remove(write.key)
                keys.contended.remove(write.key)
                write.finish(result)
                continue
            }
            keys.contended.insert(write.key)
            let rest = Array(batch[index...])
            if let queue { queue.takeOver(rest) } else { rest.forEach { $0.finish(result) } }
            return
        }
    }

    private func run(_ statement: SQL) async -> Result<Rows, PostgresError> {
        var attempts = 0
        while true {
            attempts += 1
            do {
                // With the session to itself: nobody else's statement is to wait behind this one for its lock.
                let results = try await database.transaction { try await $0.pipeline([lockTimeout, statement]) }
                return results.last.map { .success($0) } ?? .failure(.unexpectedShape("no result"))
            } catch let error as PostgresError {
                if !error.isRetryable || attempts == Self.attemptLimit { return .failure(error) }
            } catch {
                return .failure(.unavailable("\(error)"))
            }
        }
    }
}
