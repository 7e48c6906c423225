import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Deletes what is kept for a time only, and purges deleted accounts: once an hour, in small transactions, by one loop of each instance.
///
/// Several instances may do it at once: what one has locked the others skip.
final class Housekeeping {
    private static let period = Duration.seconds(3_600)
    /// Rows that one transaction deletes at most.
    static let batch = 500

    private let database: Database
    private let clock: any WallClock
    private let random: any Randomness
    private let log: Log
    private let purge: AccountPurge

    /// - Parameter purgeDays: how many days after its deletion an account is purged.
    init(
        database: Database, ledger: Ledger, clock: any WallClock, random: any Randomness, log: Log, purgeDays: Int
    ) {
        self.database = database
        self.clock = clock
        self.random = random
        self.log = log
        purge = AccountPurge(database: database, ledger: ledger, days: purgeDays)
    }

    /// Goes on for as long as this object lives and the loop runs; begins a period after the start.
    func start() {
        let poller = database.poller
        poller.schedule(at: poller.now + Self.period) { [weak self] in
            guard let self else { return }
            poller.spawn { [self] in
                do {
                    let (deleted, purged) = try await round()
                    log.write(.info, "housekeeping") {
                        $0.field("deleted_rows", deleted)
                        $0.field("purged_accounts", purged)
                    }
                } catch {
                    log.write(.warning, "housekeeping_failed") { $0.field("cause", "\(error)") }
                }
            }
            start()
        }
    }

    /// Deletes what is over and purges accounts that are due, once.
    func round() async throws -> (deletedRows: Int, purgedAccounts: Int) {
        let deleted = try await Self.sweep(database, at: clock.now())
        let purged = try await purge.run(SystemActor.scheduler.retyped()) {
            CallContext(unaskedAt: clock.now(), random)
        }
        return (deleted, purged)
    }

    /// Deletes all that is over, and says how many rows that were.
    static func sweep(_ database: any Queries, at now: Timestamp) async throws(PostgresError) -> Int {
        let statements = [
            IdempotencyRecord.deleteExpired(batch, at: now), AttemptStatements.deleteExpired(batch, at: now),
            PINAttemptStatements.deleteExpired(batch, at: now), KnownAddressStatements.deleteExpired(batch, at: now),
            SessionStatements.deleteExpired(batch, at: now), RefusalCount.deleteExpired(batch, at: now),
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
