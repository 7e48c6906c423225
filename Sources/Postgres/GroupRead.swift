import SQL

/// Lets reads of concurrent requests share one statement: those of one shape that wait at the same moment are run as one
/// (`SQL.merged`) and see one snapshot.
///
/// A read that has nobody to share with runs as it is, at once. When a shared statement is refused each runs alone, so that
/// one spoils nobody's work.
final class GroupRead {
    private let queue: StatementQueue

    /// - Parameters:
    ///   - database: owns this.
    ///   - batchLimit: how many reads share a statement at most.
    ///   - concurrency: how many statements are under way at most: what comes then waits, and is shared.
    init(_ database: Database, batchLimit: Int, concurrency: Int) {
        queue = StatementQueue(
            database, batchLimit: batchLimit, concurrency: concurrency,
            fits: { read, batch in read.statementKey != nil && read.statementKey == batch[0].statementKey },
            run: { [unowned database] batch in await Self.run(batch, on: database) })
    }

    func run(_ statement: SQL) async throws(PostgresError) -> Rows {
        try await queue.rows(of: statement, statementKey: statement.statementKey)
    }

    private static func run(_ batch: [StatementQueue.Entry], on database: Database) async {
        do {
            if let rows = try await database.runMerged(batch.map(\.statement)) {
                for (read, rows) in zip(batch, rows) { read.finish(.success(rows)) }
            } else {
                for read in batch { await alone(read, on: database) }
            }
        } catch .refused {
            for read in batch { await alone(read, on: database) }
        } catch {
            for read in batch { read.finish(.failure(error)) }
        }
    }

    private static func alone(_ read: StatementQueue.Entry, on database: Database) async {
        do { read.finish(.success(try await database.query(read.statement))) } catch { read.finish(.failure(error)) }
    }
}
