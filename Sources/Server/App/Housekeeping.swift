import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Deletes what is kept for a time only: once an hour, in small transactions, by one loop of each instance.
///
/// Several instances may do it at once: what one has locked the others skip.
final class Housekeeping {
    private static let period = Duration.seconds(3_600)
    /// Rows that one transaction deletes at most.
    static let batch = 500

    private let backend: Backend
    private let log: Log

    init(_ backend: Backend, _ log: Log) {
        self.backend = backend
        self.log = log
    }

    /// Goes on for as long as this object lives and the loop runs; begins a period after the start.
    func start() {
        let poller = backend.database.poller
        poller.schedule(at: poller.now + Self.period) { [weak self] in
            guard let self else { return }
            poller.spawn { [self] in
                do {
                    let deleted = try await Self.sweep(backend.database, at: backend.clock.now())
                    log.write(.info, "housekeeping") { $0.field("deleted_rows", deleted) }
                } catch {
                    log.write(.warning, "housekeeping_failed") { $0.field("cause", "\(error)") }
                }
            }
            start()
        }
    }

    /// Deletes all that is over, and says how many rows that were.
    static func sweep(_ database: any Queries, at now: Timestamp) async throws(PostgresError) -> Int {
        let statements = [
            Once.forget(batch, at: now), AttemptStatements.forget(batch, at: now),
            SessionStatements.forget(batch, at: now),
        ]
        var deleted = 0
        for statement in statements {
            var count = batch
            while count == batch {
                count = try await database.query(statement).affected
                deleted += count
            }
        }
        return deleted
    }
}
