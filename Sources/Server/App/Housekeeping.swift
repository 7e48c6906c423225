import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Deletes expired rows and unclaimed accounts, purges deleted accounts, revokes old invitations and expires drafts
/// once an hour, in small transactions, on one loop of each instance.
///
/// Several instances may run it at once: each skips the rows that another has locked.
final class Housekeeping {
    private static let period = Duration.seconds(3_600)
    /// The largest number of rows that one transaction deletes or clears.
    static let batchSize = 500

    private let database: Database
    private let clock: any WallClock
    private let random: any Randomness
    private let log: Log
    private let counters: RetentionCounters
    private let unclaimedAccounts: UnclaimedAccounts
    private let accountPurge: AccountPurge
    private let invitationExpiry: InvitationExpiry
    private let draftExpiry: DraftExpiry

    /// - Parameter purgeDays: days from an account's deletion to its purge.
    init(
        database: Database, ledger: Ledger, clock: any WallClock, random: any Randomness, log: Log,
        counters: RetentionCounters, purgeDays: Int
    ) {
        self.counters = counters
        self.database = database
        self.clock = clock
        self.random = random
        self.log = log
        unclaimedAccounts = UnclaimedAccounts(database: database, ledger: ledger)
        accountPurge = AccountPurge(database: database, ledger: ledger, days: purgeDays)
        invitationExpiry = InvitationExpiry(database: database, ledger: ledger)
        draftExpiry = DraftExpiry(database: database, ledger: ledger)
    }

    /// Runs as long as this object lives and the loop runs; the first round is one period after the start.
    func start() {
        let poller = database.poller
        poller.schedule(at: poller.now + Self.period) { [weak self] in
            guard let self else { return }
            poller.spawn { [self] in
                do {
                    let counts = try await runRound()
                    log.write(.info, "housekeeping") {
                        $0.field("deleted_rows", counts.deletedRows)
                        $0.field("unclaimed_accounts", counts.unclaimedAccounts)
                        $0.field("purged_accounts", counts.purgedAccounts)
                        $0.field("expired_invitations", counts.expiredInvitations)
                        $0.field("expired_drafts", counts.expiredDrafts)
                    }
                } catch {
                    log.write(.warning, "housekeeping_failed") { $0.field("cause", "\(error)") }
                }
            }
            start()
        }
    }

    /// The numbers of rows, accounts, invitations and drafts that one round dealt with.
    struct Counts {
        var deletedRows, unclaimedAccounts, purgedAccounts, expiredInvitations, expiredDrafts: Int
    }

    /// Runs one round: deletes expired rows, and accounts that have waited too long for a guardian's consent; purges
    /// the accounts that are due, revokes invitations that nobody answered in time, and marks expired drafts.
    func runRound() async throws -> Counts {
        func context() -> CallContext { CallContext(systemActAt: clock.now(), random) }
        return Counts(
            deletedRows: try await Self.applyRetention(database, counting: counters, at: clock.now()),
            unclaimedAccounts: try await unclaimedAccounts.delete(context),
            purgedAccounts: try await accountPurge.run(SystemActor.scheduler.retyped(), context),
            expiredInvitations: try await invitationExpiry.run(context),
            expiredDrafts: try await draftExpiry.run(context))
    }

    /// Applies every retention rule, and returns the number of rows that were deleted or cleared.
    @discardableResult
    static func applyRetention(
        _ database: any Queries, counting counters: RetentionCounters? = nil, at now: Timestamp
    ) async throws(PostgresError) -> Int {
        let rowCounts = try await Retention.run(database, batchSize: batchSize, at: now)
        counters?.add(rowCounts)
        return rowCounts.reduce(0) { $0 + $1.rows }
    }
}
