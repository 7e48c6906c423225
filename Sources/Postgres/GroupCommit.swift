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
    /// What the writes of a batch are ordered by: the family's id.
    public typealias Key = (high: UInt64, low: UInt64)

    /// How often a deadlock or serialisation failure is tried again.
    private static let attemptLimit = 3

    private let queue: StatementQueue
    /// How many transactions the writes have shared so far.
    public var batches: Int { queue.batches }

    /// - Parameters:
    ///   - batchLimit: how many writes share a transaction at most.
    ///   - concurrency: how many batches of this loop are under way at most.
    public init(_ database: Database, batchLimit: Int = 24, concurrency: Int = 2) {
        queue = StatementQueue(
            database, batchLimit: batchLimit, concurrency: concurrency,
            fits: { write, batch in
                // Of a merged statement no two have one key.
                write.shape == batch[0].shape && (write.shape == nil || !batch.contains { $0.key == write.key })
            },
            run: { batch in
                let ordered = batch.sorted { ($0.key.high, $0.key.low) < ($1.key.high, $1.key.low) }
                await Self.commit(ordered, on: database)
            })
    }

    /// Runs the statement in a transaction shared with others, and returns its rows after the commit.
    /// - Parameter canMerge: whether it says itself how it is merged, with `SQL.requests`.
    public func run(_ statement: SQL, key: Key, canMerge: Bool = false) async throws(PostgresError) -> Rows {
        try await queue.rows(of: statement, shape: canMerge ? statement.shape : nil, key: key)
    }

    private static func commit(_ batch: [StatementQueue.Entry], on database: Database) async {
        do {
            for (write, rows) in zip(batch, try await rows(of: batch, on: database)) { write.finish(.success(rows)) }
        } catch .refused where batch.count > 1 {
            // One spoiled it for all: nothing of the batch was kept.
            for write in batch { await commit([write], on: database) }
        } catch {
            for write in batch {
                write.attempts += 1
                if error.isRetryable, write.attempts < attemptLimit {
                    await commit([write], on: database)
                } else {
                    write.finish(.failure(error))
                }
            }
        }
    }

    private static func rows(
        of batch: [StatementQueue.Entry], on database: Database
    ) async throws(PostgresError) -> [Rows] {
        let statements = batch.map(\.statement)
        if batch[0].shape != nil, let rows = try await database.runMerged(statements) { return rows }
        return try await database.exchange(statements)
    }
}
