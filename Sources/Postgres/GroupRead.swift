import Reactor
import SQL

/// Lets reads of concurrent requests share one statement: those of one shape that wait at the same moment are run as one
/// (`SQL.merged`) and see one snapshot.
///
/// A read that has nobody to share with runs as it is, at once. When a shared statement is refused each runs alone, so that
/// one spoils nobody's work.
final class GroupRead {
    private struct Read {
        let statement: SQL
        let shape: SQL.Shape?
        let continuation: CheckedContinuation<Confined<Result<Rows, PostgresError>>, Never>

        func finish(_ result: Result<Rows, PostgresError>) { continuation.resume(returning: Confined(value: result)) }
    }

    private unowned let database: Database
    /// How many reads share a statement at most.
    private let batchLimit: Int
    /// How many statements are under way at most: what comes then waits, and is shared.
    private let concurrency: Int
    private var pending: [Read] = []
    private var running = 0
    private var isFlushScheduled = false

    init(_ database: Database, batchLimit: Int, concurrency: Int) {
        self.database = database
        self.batchLimit = batchLimit
        self.concurrency = concurrency
    }

    func run(_ statement: SQL) async throws(PostgresError) -> Rows {
        let result = await withCheckedContinuation { continuation in
            pending.append(Read(statement: statement, shape: statement.shape, continuation: continuation))
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
            var batch: [Read] = []
            pending.removeAll { read in
                guard batch.count < batchLimit, read.shape == first.shape, first.shape != nil || batch.isEmpty else {
                    return false
                }
                batch.append(read)
                return true
            }
            running += 1
            database.poller.spawn { [self, batch] in
                await run(batch)
                running -= 1
                flush()
            }
        }
    }

    private func run(_ batch: [Read]) async {
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

    private func alone(_ read: Read) async {
        do { read.finish(.success(try await database.query(read.statement))) } catch { read.finish(.failure(error)) }
    }
}
