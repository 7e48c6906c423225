import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Takes the due steps of escalation, which also continue series, and creates daily digests, about twice a second.
///
/// Every server runs one; only the holder of an advisory lock works. When it dies, its session ends and another server
/// gets the lock. The lock only saves work: each step is an act of its own that is taken once, whichever server takes
/// it (`Nags.escalate`). If the process dies at any point, the next round finds the remaining steps in the database and
/// takes them in order of time.
final class Scheduler: PeriodicJob {
    /// The limits of the scheduler's sessions: one holds the lock of a round, two carry out what is due.
    static let limits = Database.Limits(connections: 3)

    /// The points of a round where tests make it fail.
    enum Point {
        case lockTaken, dueNagsRead
        /// One step of a nag was taken, or none was due.
        case escalated
    }

    static let period = Duration.milliseconds(500)
    /// The time for which a round works before it releases the lock, well below the idle timeout of its transaction.
    private static let workTime = Duration.seconds(3)
    /// The maximum number of families whose nags are escalated concurrently. Their acts share transactions
    /// (`GroupCommit`).
    private static let maxWorkerCount = 16

    private let nags: Nags
    private let digests: DailyDigests
    private let database: Database
    private let clock: any WallClock
    private let plan: EscalationPlan
    private let status: SchedulerStatus
    private let log: Log
    private let reach: (Point) throws -> Void
    private(set) var isStopped = false
    /// Whether this process has compared the plan with the stored one.
    private var isPlanCompared = false
    /// The families that used up their share in a round. They are left out until every other family has had its turn.
    private var servedFamilies: Set<FamilyID> = []
    /// The causes of the errors of this round, and of the round before. A cause is logged only in the first of
    /// consecutive rounds.
    private var (failures, lastFailures): (Set<String>, Set<String>) = ([], [])

    /// - Parameters:
    ///   - services: have at least two database sessions of their own: one holds the lock.
    ///   - reach: called at each point; an error that it throws ends the round.
    init(
        _ services: Services, status: SchedulerStatus, log: Log, reach: @escaping (Point) throws -> Void = { _ in }
    ) {
        nags = Nags(services, Gamification(services))
        digests = DailyDigests(services)
        (database, clock, plan) = (services.database, services.clock, services.escalationPlan)
        (self.status, self.log, self.reach) = (status, log, reach)
    }

    var poller: Poller { database.poller }

    func start() {
        status.begin(at: clock.now())
        runRounds()
    }

    func stop() { isStopped = true }

    /// Runs one round.
    /// - Returns: whether more is due than the round took.
    func runRound() async throws -> Bool {
        let now = clock.now()
        (lastFailures, failures) = (failures, [])
        let (snapshot, isMoreDue) = try await database.transaction { transaction in
            LoopBound(value: try await work(transaction, now))
        }.value
        status.update(snapshot)
        return isMoreDue
    }

    private func work(
        _ transaction: Transaction, _ now: Timestamp
    ) async throws -> (snapshot: SchedulerStatus.Snapshot, isMoreDue: Bool) {
        var snapshot = SchedulerStatus.Snapshot()
        snapshot.isLeading = try await transaction.query(SchedulerStatements.tryLock).onlyRow()["is_ours"]
        guard snapshot.isLeading else {
            snapshot.dueSince = try await transaction.query(NagStatements.dueSince(at: now)).onlyRow()["since"]
            snapshot.roundEndedAt = now
            return (snapshot, false)
        }
        try reach(.lockTaken)
        _ = try await transaction.query(SchedulerStatements.setIdleTimeout)
        if !isPlanCompared { try await rescheduleIfPlanChanged(at: now) }
        let isDigestWaiting = try await digests.makeBatch(at: now)
        let due = try await transaction.query(NagStatements.dueNags(at: now, besides: Array(servedFamilies)))
        let families = try makeBatches(of: due)
        try reach(.dueNagsRead)
        if families.isEmpty {
            let isMoreDue = !servedFamilies.isEmpty || isDigestWaiting
            servedFamilies = []
            snapshot.roundEndedAt = now
            return (snapshot, isMoreDue)
        }
        try await escalate(families, now, until: .now() + Self.workTime)
        snapshot.dueSince = try await transaction.query(NagStatements.dueSince(at: now)).onlyRow()["since"]
        snapshot.roundEndedAt = clock.now()
        return (snapshot, (snapshot.dueSince != nil || isDigestWaiting) && failures.isEmpty)
    }

    /// The due nags of one family, in order of time.
    private struct Batch {
        let family: FamilyID
        var nags: [NagID] = []
    }

    /// Groups the due nags by family, the family with the oldest due nag first, and updates `servedFamilies`.
    private func makeBatches(of rows: Rows) throws -> [Batch] {
        var batches: [Batch] = []
        var batchIndices: [FamilyID: Int] = [:]
        var isWindowFull = false
        let due = try rows.map { row in
            (
                family: try row["family_id"] as FamilyID, nag: try row["id"] as NagID,
                ordinal: try row["ordinal"] as Int,
                seen: try row["seen"] as Int
            )
        }
        for one in due {
            let index = batchIndices[one.family] ?? batches.count
            if index == batches.count {
                batchIndices[one.family] = index
                batches.append(Batch(family: one.family))
            }
            batches[index].nags.append(one.nag)
            if one.ordinal == NagStatements.dueLimitPerFamily { servedFamilies.insert(one.family) }
            isWindowFull = one.seen == NagStatements.dueLimitPerRound
        }
        // Every family has had its turn: the next round begins with the oldest due nags again.
        if !isWindowFull { servedFamilies = [] }
        return batches
    }

    // MARK: Escalating

    /// Escalates the nags of the families, several concurrently, until the deadline.
    private func escalate(_ families: [Batch], _ now: Timestamp, until deadline: MonotonicTime) async throws {
        let queue = BatchQueue(families)
        await withCheckedContinuation { continuation in
            queue.begin(min(Self.maxWorkerCount, families.count), continuation)
            for _ in 0..<min(Self.maxWorkerCount, families.count) {
                database.poller.spawn { [self] in
                    while let batch = queue.next(), MonotonicTime.now() < deadline, !isStopped {
                        do { try await escalate(batch, now, until: deadline) } catch let fault as Interruption {
                            queue.interrupt(by: fault.cause)
                        } catch {
                            status.failedAttempts.add()
                            report(error)
                        }
                    }
                    queue.workerEnded()
                }
            }
        }
        if let cause = queue.interruption { throw cause }
    }

    private func escalate(_ batch: Batch, _ now: Timestamp, until deadline: MonotonicTime) async throws {
        for nag in batch.nags {
            var hasNextStep = true
            while hasNextStep {
                guard !isStopped, MonotonicTime.now() < deadline else { return }
                let result = try await nags.escalate(nag, in: batch.family, at: now)
                status.completedAttempts.add()
                if case .stepped = result { status.steps.add() } else { hasNextStep = false }
                do { try reach(.escalated) } catch { throw Interruption(cause: error) }
            }
        }
    }

    /// The error with which a test ended the round.
    private struct Interruption: Error {
        let cause: any Error
    }

    /// The families that no worker has taken yet, and the workers. Used on one loop.
    private final class BatchQueue {
        private var batches: ArraySlice<Batch>
        private var workers = 0
        private var continuation: CheckedContinuation<Void, Never>?
        private(set) var interruption: (any Error)?

        init(_ batches: [Batch]) { self.batches = batches[...] }

        func begin(_ workers: Int, _ continuation: CheckedContinuation<Void, Never>) {
            (self.workers, self.continuation) = (workers, continuation)
        }

        func next() -> Batch? { interruption == nil ? batches.popFirst() : nil }

        func interrupt(by cause: any Error) { interruption = cause }

        func workerEnded() {
            workers -= 1
            if workers == 0 { continuation?.resume() }
        }
    }

    // MARK: The plan

    /// Makes all open nags due when the plan has changed, because their steps may be earlier now.
    private func rescheduleIfPlanChanged(at now: Timestamp) async throws {
        let known: String? = try await database.query(SchedulerStatements.plan).first?["windows"]
        if known != plan.text {
            var last = (family: FamilyID(high: 0, low: 0), nag: NagID(high: 0, low: 0))
            while let row = try await database.query(NagStatements.makePageDue(after: last, at: now)).first {
                last = (try row["family_id"], try row["id"])
            }
            _ = try await database.query(SchedulerStatements.setPlan(plan.text))
            log.write(.info, "scheduler_plan") { $0.field("windows", plan.text) }
        }
        isPlanCompared = true
    }

    func report(_ error: any Error) {
        guard !isStopped, !(error is CancellationError) else { return }
        let cause = (error as? APIError)?.message ?? "\(error)"
        guard failures.insert(cause).inserted, !lastFailures.contains(cause) else { return }
        log.write(.warning, "scheduler_delayed") { $0.field("cause", cause) }
    }
}

/// Every statement on the scheduler's lock, and on the stored windows with which open nags were scheduled.
enum SchedulerStatements {
    /// Tries to take the scheduler's lock until the transaction ends.
    static let tryLock: SQL = "SELECT pg_try_advisory_xact_lock(7239410025) AS is_ours"

    /// Sets the timeout of the round's transaction, which is idle while the acts run. The timeout is longer than any of
    /// them takes. It limits how long another instance waits for the lock of a machine that is gone.
    static let setIdleTimeout: SQL = "SET LOCAL idle_in_transaction_session_timeout = 9000"

    static let plan: SQL = "SELECT windows FROM scheduler_plan"

    static func setPlan(_ windows: String) -> SQL {
        """
        INSERT INTO scheduler_plan (windows) VALUES (\(windows))
        ON CONFLICT (is_current) DO UPDATE SET windows = excluded.windows
        """
    }
}
