import SQL

/// Lets reads of concurrent requests share one statement: those of one shape that wait at the same moment are run as one
/// (`SQL.merged`) and see one snapshot.
///
/// A read that has nobody to share with runs as it is, at once. When a shared statement is refused each runs alone, so that
/// one spoils nobody's work.
final class GroupRead {
    private unowned let database: Database
    private let batchLimit: Int
    private let concurrency: Int
    private lazy var queue = StatementQueue(
        database, batchLimit: batchLimit, concurrency: concurrency,
        fits: { read, batch in read.shape != nil && read.shape == batch[0].shape },
        run: { [unowned self] batch in await run(batch) })

    /// - Parameters:
    ///   - batchLimit: how many reads share a statement at most.
    ///   - concurrency: how many statements are under way at most: what comes then waits, and is shared.
    init(_ database: Database, batchLimit: Int, concurrency: Int) {
        self.database = database
        self.batchLimit = batchLimit
        self.concurrency = concurrency
    }

    func run(_ statement: SQL) async throws(PostgresError) -> Rows {
        try await queue.rows(of: statement, shape: statement.shape)
    }

    private func run(_ batch: [StatementQueue.Entry]) async {
        guard batch.count > 1, let merged = SQL.merged(batch.map(\.statement)) else {
            for read in batch { await alone(read) }
            return
        }
        do {
            let rows = try await database.query(merged).split(among: batch.count)
            for (read, rows) in zip(batch, rows) { read.finish(.success(rows)) }
        } catch .refused {
            for read in batch { await alone(read) }
        } catch {
            for read in batch { read.finish(.failure(error)) }
        }
    }

    private func alone(_ read: StatementQueue.Entry) async {
        do { read.finish(.success(try await database.query(read.statement))) } catch { read.finish(.failure(error)) }
    }
}
