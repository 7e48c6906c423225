import SQL

/// Lets writes of concurrent requests share one durable transaction, so that throughput is not bound by one commit a
/// request.
///
/// Each write MUST be one statement that decides by itself whether it applies (it returns no row when it does not) and
/// names the lock it takes by its key. The statements of a batch run in key order, so that batches never wait for each
/// other in a circle. Writes that say so and have the same shape and different keys become one statement (`SQL.merged`),
/// which is a batch by itself. When a statement is refused the batch is rolled back and each runs alone; and so do all
/// writes of a key whose lock somebody else holds for long, until one of them comes through: who shares a batch with
/// such a one waits for it once, and nobody after. A result is handed over only after its commit; if the process dies
/// before, the write either happened whole or not at all.
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

    /// How often a deadlock or serialisation failure is tried again.
    private static let attemptLimit = 3

    private let shared: StatementQueue
    private let alone: StatementQueue
    private let heldUp: HeldUpKeys
    /// How many transactions the writes have shared so far.
    public var batches: Int { shared.batches }

    /// - Parameters:
    ///   - batchLimit: how many writes share a transaction at most.
    ///   - concurrency: how many batches of this loop are under way at most, and how many writes that run alone.
    public init(_ database: Database, batchLimit: Int = 24, concurrency: Int = 2) {
        let heldUp = HeldUpKeys()
        let alone = StatementQueue(
            database, batchLimit: batchLimit, concurrency: concurrency,
            fits: { write, batch in write.key == batch[0].key },
            run: { batch in await Self.runOneByOne(batch, heldUp, on: database) })
        shared = StatementQueue(
            database, batchLimit: batchLimit, concurrency: concurrency,
            fits: { write, batch in
                // Of a merged statement no two have one key.
                write.shape == batch[0].shape && (write.shape == nil || !batch.contains { $0.key == write.key })
            },
            run: { batch in
                // Of some it has become known while they waited.
                let late = batch.filter { heldUp.keys.contains($0.key) }
                if !late.isEmpty { alone.takeOver(late) }
                let rest = late.isEmpty ? batch : batch.filter { !heldUp.keys.contains($0.key) }
                if !rest.isEmpty { await Self.commit(rest.sorted { $0.key < $1.key }, or: alone, heldUp, on: database) }
            })
        (self.alone, self.heldUp) = (alone, heldUp)
    }

    /// Runs the statement in a transaction shared with others, and returns its rows after the commit.
    /// - Parameter canMerge: whether it says itself how it is merged, with `SQL.requests`.
    public func run(_ statement: SQL, key: Key, canMerge: Bool = false) async throws(PostgresError) -> Rows {
        let queue = heldUp.keys.contains(key) ? alone : shared
        return try await queue.rows(of: statement, shape: canMerge ? statement.shape : nil, key: key)
    }

    private static func commit(
        _ batch: [StatementQueue.Entry], or alone: StatementQueue, _ heldUp: HeldUpKeys, on database: Database
    ) async {
        do {
            for (write, rows) in zip(batch, try await rows(of: batch, on: database)) { write.finish(.success(rows)) }
        } catch {
            if error.isOutOfTime { heldUp.keys.formUnion(batch.map(\.key)) }
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
        if batch[0].shape != nil, let rows = try await database.runMerged(statements) { return rows }
        return try await database.exchange(statements)
    }

    /// Runs writes of one key, each in a transaction of its own. Once one of them could not get its lock the others are
    /// told the same: they have waited for as long.
    private static func runOneByOne(
        _ batch: [StatementQueue.Entry], _ heldUp: HeldUpKeys, on database: Database
    ) async {
        var outOfTime: PostgresError?
        for write in batch {
            if let outOfTime {
                write.finish(.failure(outOfTime))
                continue
            }
            let result = await runAlone(write.statement, on: database)
            if case .failure(let error) = result, error.isOutOfTime {
                outOfTime = error
                heldUp.keys.insert(write.key)
            } else {
                heldUp.keys.remove(write.key)
            }
            write.finish(result)
        }
    }

    private static func runAlone(_ statement: SQL, on database: Database) async -> Result<Rows, PostgresError> {
        var attempts = 0
        while true {
            attempts += 1
            do {
                // With the session to itself: nobody else's statement is to wait behind this one for its lock.
                return .success(try await database.transaction { try await $0.query(statement) })
            } catch let error as PostgresError {
                if !error.isRetryable || attempts == attemptLimit { return .failure(error) }
            } catch {
                return .failure(.unavailable("\(error)"))
            }
        }
    }
}

/// Keys whose writes do not share batches: the last write of such a key could not get its lock, or was in a batch of
/// which one could not.
private final class HeldUpKeys {
    var keys: Set<GroupCommit.Key> = []
}
