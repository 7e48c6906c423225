import Reactor
import SQL

/// Lets writes of concurrent requests share one durable transaction, so that throughput is not bound by one commit a
/// request.
///
/// Each write MUST be one statement that decides by itself whether it applies (it returns no row when it does not) and
/// names the lock it takes by its key. The statements of a batch run in key order, so that batches never wait for each
/// other in a circle. Writes that say so and have the same shape and different keys become one statement (`SQL.merged`),
/// which is a batch by itself. When a statement is refused the batch is rolled back and each runs alone. A result is
/// handed over only after its commit; if the process dies before, the write either happened whole or not at all.
public final class GroupCommit {
    private struct Write {
        let statement: SQL
        let key: Key
        /// Nil for a write that cannot be merged with others.
        let shape: SQL.Shape?
        let continuation: CheckedContinuation<Confined<Result<Rows, PostgresError>>, Never>
        var attempts = 0

        func finish(_ result: Result<Rows, PostgresError>) { continuation.resume(returning: Confined(value: result)) }
    }

    /// What the writes of a batch are ordered by: the family's id.
    public typealias Key = (high: UInt64, low: UInt64)

    /// How often a deadlock or serialisation failure is tried again.
    private static let attemptLimit = 3

    private let database: Database
    private let batchLimit: Int
    private let concurrency: Int
    private var pending: [Write] = []
    private var running = 0
    private var isFlushScheduled = false
    /// How many transactions the writes have shared so far.
    public private(set) var batches = 0

    /// - Parameters:
    ///   - batchLimit: how many writes share a transaction at most.
    ///   - concurrency: how many batches of this loop are under way at most.
    public init(_ database: Database, batchLimit: Int = 24, concurrency: Int = 2) {
        self.database = database
        self.batchLimit = batchLimit
        self.concurrency = concurrency
    }

    /// Runs the statement in a transaction shared with others, and returns its rows after the commit.
    /// - Parameter canMerge: whether it says itself how it is merged, with `SQL.requests`.
    public func run(_ statement: SQL, key: Key, canMerge: Bool = false) async throws(PostgresError) -> Rows {
        let result = await withCheckedContinuation { continuation in
            pending.append(
                Write(
                    statement: statement, key: key, shape: canMerge ? statement.shape : nil,
                    continuation: continuation))
            scheduleFlush()
        }
        return try result.value.get()
    }

    private func scheduleFlush() {
        guard !isFlushScheduled, running < concurrency else { return }
        isFlushScheduled = true
        database.poller.atEndOfTurn { [self] in
            isFlushScheduled = false
            flush()
        }
    }

    private func flush() {
        while running < concurrency, let first = pending.first {
            let batch = takeBatch(like: first).sorted { ($0.key.high, $0.key.low) < ($1.key.high, $1.key.low) }
            running += 1
            batches += 1
            database.poller.spawn { [self] in
                await commit(batch)
                running -= 1
                flush()
            }
        }
    }

    /// The first of those that wait and all that can share its transaction; of a merged statement no two have one key.
    private func takeBatch(like first: Write) -> [Write] {
        var batch: [Write] = []
        pending.removeAll { write in
            guard batch.count < batchLimit, write.shape == first.shape,
                write.shape == nil || !batch.contains(where: { $0.key == write.key })
            else { return false }
            batch.append(write)
            return true
        }
        return batch
    }

    private func commit(_ batch: [Write]) async {
        do {
            for (write, rows) in zip(batch, try await rows(of: batch)) { write.finish(.success(rows)) }
        } catch .refused where batch.count > 1 {
            // One spoiled it for all: nothing of the batch was kept.
            for write in batch { await commit([write]) }
        } catch {
            for var write in batch {
                write.attempts += 1
                if error.isRetryable, write.attempts < Self.attemptLimit {
                    await commit([write])
                } else {
                    write.finish(.failure(error))
                }
            }
        }
    }

    private func rows(of batch: [Write]) async throws(PostgresError) -> [Rows] {
        let statements = batch.map(\.statement)
        guard batch.count > 1, batch[0].shape != nil, let merged = SQL.merged(statements) else {
            return try await database.exchange(statements)
        }
        return try await database.query(merged).split(among: batch.count)
    }
}
