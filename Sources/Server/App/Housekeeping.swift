import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Deletes expired rows, purges deleted accounts and revokes old invitations once an hour, in small transactions, on one loop of each instance.
///
/// Several instances may run it at once: each skips the rows that another has locked.
final class Housekeeping {
    private static let period = Duration.seconds(3_600)
    /// Rows that one transaction deletes at most.
    static let batch = 500

    private let database: Database
    private let clock: any WallClock
    private let random: any Randomness
    private let log: Log
    private let purge: AccountPurge
    private let invitations: InvitationExpiry

    /// - Parameter purgeDays: days from an account's deletion to its purge.
    init(
        database: Database, ledger: Ledger, clock: any WallClock, random: any Randomness, log: Log, purgeDays: Int
    ) {
        self.database = database
        self.clock = clock
        self.random = random
        self.log = log
        purge = AccountPurge(database: database, ledger: ledger, days: purgeDays)
        invitations = InvitationExpiry(database: database, ledger: ledger)
    }

    /// Runs as long as this object lives and the loop runs; the first round is one period after the start.
    func start() {
        let poller = database.poller
        poller.schedule(at: poller.now + Self.period) { [weak self] in
            guard let self else { return }
            poller.spawn { [self] in
                do {
                    let (deleted, purged, expired) = try await round()
                    log.write(.info, "housekeeping") {
                        $0.field("deleted_rows", deleted)
                        $0.field("purged_accounts", purged)
                        $0.field("expired_invitations", expired)
                    }
                } catch {
                    log.write(.warning, "housekeeping_failed") { $0.field("cause", "\(error)") }
                }
            }
            start()
        }
    }

    /// Deletes expired rows, purges accounts that are due, and revokes invitations that nobody answered, once.
    func round() async throws -> (deletedRows: Int, purgedAccounts: Int, expiredInvitations: Int) {
        let deleted = try await Self.sweep(database, at: clock.now())
        let purged = try await purge.run(SystemActor.scheduler.retyped()) {
            CallContext(unaskedAt: clock.now(), random)
        }
        let expired = try await invitations.run { CallContext(unaskedAt: clock.now(), random) }
        return (deleted, purged, expired)
    }

    /// Deletes all expired rows, and returns their number.
    static func sweep(_ database: any Queries, at now: Timestamp) async throws(PostgresError) -> Int {
        let statements = [
            IdempotencyRecord.deleteExpired(batch, at: now), AttemptStatements.deleteExpired(batch, at: now),
            PINAttemptStatements.deleteExpired(batch, at: now), KnownAddressStatements.deleteExpired(batch, at: now),
            SessionStatements.deleteExpired(batch, at: now), RefusalCount.deleteExpired(batch, at: now),
            DailyCount.deleteExpired(batch, at: now),
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
