import Reactor
import SQL

/// Merges reads of concurrent requests: waiting reads of one shape run as one statement (`SQL.merged`) and see one
/// snapshot.
///
/// A single read runs unchanged. If the database refuses a merged statement, each of its reads runs alone, so that one
/// read cannot make others fail.
final class GroupRead {
    private let queue: StatementQueue
    /// The number of reads refused because too many waited, or they waited too long.
    var refusalCount: Int { queue.refusalCount }

    /// - Parameters:
    ///   - database: the owner, which is not retained.
    ///   - batchLimit: the largest number of reads in a statement.
    ///   - concurrency: the largest number of statements in flight; further reads wait and are merged.
    init(_ database: Database, batchLimit: Int, concurrency: Int) {
        queue = StatementQueue(
            database, batchLimit: batchLimit, concurrency: concurrency,
            fits: { read, batch in read.statementKey != nil && read.statementKey == batch[0].statementKey },
            run: { [unowned database] batch in await Self.run(batch, on: database) })
    }

    func run(_ statement: SQL, until deadline: MonotonicTime) async throws(PostgresError) -> Rows {
        try await queue.runInBatch(statement, statementKey: statement.statementKey, until: deadline)
    }

    private static func run(_ batch: [StatementQueue.Entry], on database: Database) async {
        do {
            if let rows = try await database.runMerged(batch.map(\.statement), until: batch.earliestDeadline) {
                for (read, rows) in zip(batch, rows) { read.finish(.success(rows)) }
            } else {
                for read in batch { await runAlone(read, on: database) }
            }
        } catch .refused {
            for read in batch { await runAlone(read, on: database) }
        } catch {
            for read in batch { read.finish(.failure(error)) }
        }
    }

    private static func runAlone(_ read: StatementQueue.Entry, on database: Database) async {
        do {
            read.finish(.success(try await database.query(read.statement, until: read.deadline)))
        } catch {
            read.finish(.failure(error))
        }
    }
}
