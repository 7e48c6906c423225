import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Checks the whole audit log repeatedly and slowly: family by family the chain, its bodies and its rows
/// (`FamilyCheck`), then the schema, the accounts and the tree (`SchemaCheck`, `AccountCheck`, `TreeCheck`).
///
/// Every server runs one, on a loop and two database sessions of its own; the holder of the lease in `audit_pass`
/// works, the others read its status. After each page it rests many times as long as the page took. If the process
/// dies, another continues after the last family that was stored.
final class BackgroundCheck: BackgroundJob {
    /// Two sessions, which may wait: one reads in a snapshot while the other extends the lease.
    static let limits = Database.Limits(connections: 2, batchTimeout: .seconds(90))

    /// The speed of the check.
    struct Pace: Sendable {
        /// The ratio of rest to work.
        var restRatio = 30.0
        var shortestRest = Duration.milliseconds(20)
        var longestRest = Duration.seconds(5)
        /// The time between two passes.
        var pauseBetweenPasses = Timestamp.Span.minutes(10)
        /// The interval at which an instance that does not work reads the status.
        var pollInterval = Duration.seconds(10)
        /// The interval at which progress is stored and the lease extended: well below the lease's time.
        var saveInterval = Duration.seconds(5)
    }

    /// The error that ends a pass because the server stops or another instance has taken over.
    private struct Stopped: Error {}

    private let database: Database
    private let keys: AuditKeyring
    private let clock: any WallClock
    private let passStatus: PassStatus
    private let log: Log
    private let pace: Pace
    /// The ID of this instance as a holder of the lease.
    private let holder: RequestID
    private var isStopped = false
    private var restContinuation: CheckedContinuation<Void, Never>?
    private let monotonicNow: () -> MonotonicTime
    private var workingSince = MonotonicTime.now()
    private var lastSaved: MonotonicTime

    init(
        database: Database, keys: AuditKeyring, clock: any WallClock, random: any Randomness, status: PassStatus,
        log: Log, pace: Pace = Pace(), monotonicNow: @escaping () -> MonotonicTime = { .now() }
    ) {
        self.monotonicNow = monotonicNow
        lastSaved = monotonicNow()
        self.database = database
        self.keys = keys
        self.clock = clock
        passStatus = status
        self.log = log
        self.pace = pace
        holder = random.identifier(at: clock.now())
    }

    /// Runs as long as the loop runs, or until `stop`.
    func start() {
        database.poller.spawn { [self] in
            while !isStopped {
                do { try await runTurn() } catch is Stopped {} catch { report(error) }
                if !isStopped { await sleep(pace.pollInterval) }
            }
        }
    }

    func stop() {
        isStopped = true
        restContinuation?.resume()
        restContinuation = nil
    }

    /// Runs a pass if this instance gets the lease and a pass is due. Without the lease it reads the status.
    func runTurn() async throws {
        passStatus.setOpenFindingCount(try await database.query(AuditFindingStatements.countOpen).onlyRow()["count"])
        guard let row = try await database.query(PassStatements.takeLease(holder)).first else {
            if let other = try await database.query(PassStatements.pass).first {
                passStatus.update(try PassStatus.Status(other))
            }
            return
        }
        var status = try PassStatus.Status(row)
        var last: FamilyID? = try row["behind"]
        let now = clock.now()
        if status.startedAt == nil {
            passStatus.update(status)
            if let finished = status.finishedAt, now - finished < pace.pauseBetweenPasses { return }
            status.startedAt = now
            _ = try await database.query(PassStatements.begin(holder, at: now))
        }
        passStatus.update(status)
        lastSaved = monotonicNow()
        workingSince = .now()
        try await checkFamilies(&status, after: &last)
        try await finishPass(&status)
    }

    // MARK: A pass

    private func checkFamilies(_ status: inout PassStatus.Status, after last: inout FamilyID?) async throws {
        let check = FamilyCheck(database, keys, Sealing(keys, random: SystemRandomness()), clock: clock)
        while true {
            let families = try await Reconciliation.chainIDs(after: last, database)
            for family in families {
                let progress = status
                let lastChecked = last
                let report = try await check.run(
                    family, pause: { _ in try await pause(progress, after: lastChecked) },
                    renew: { try await renewIfDue(progress, after: lastChecked) })
                status.families += 1
                status.entries += report.entryCount
                addFindings(report, &status)
                last = family
                try await pause(status, after: last)
            }
            if families.isEmpty { return }
        }
    }

    /// Checks what belongs to no family, ends the pass, and stores its result.
    /// - Throws: `Stopped` if the server stops or another instance has the lease.
    private func finishPass(_ status: inout PassStatus.Status) async throws {
        var report = try await SchemaCheck(database).run()
        let progress = status
        report.merge(try await AccountCheck(database, keys).run { _ in try await pause(progress, after: .end) })
        report.merge(
            try await TreeCheck(database: database, keys: keys).run { _ in try await pause(progress, after: .end) })
        addFindings(report, &status)
        let isNews =
            status.lastPassFindings == 0 && status.findings > 0 || status.lastPassFirstFinding != status.firstFinding
        (status.lastPassFamilies, status.lastPassEntries) = (status.families, status.entries)
        (status.lastPassFindings, status.lastPassFirstFinding) = (status.findings, status.firstFinding)
        status.lastPassIncompleteReason = report.incompleteReason ?? status.incompleteReason
        status.finishedAt = clock.now()
        (status.startedAt, status.families, status.entries) = (nil, 0, 0)
        (status.findings, status.firstFinding, status.incompleteReason) = (0, nil, nil)
        let result = try await database.query(PassStatements.finish(holder, status))
        guard result.affectedRows == 1 else { throw Stopped() }
        passStatus.update(status)
        guard isNews, let finding = status.lastPassFirstFinding else { return }
        let count = status.lastPassFindings
        log.write(.error, "audit_state_unexplained") {
            $0.field("findings", Int(count))
            $0.field("first", finding)
        }
    }

    private func addFindings(_ report: StateReport, _ status: inout PassStatus.Status) {
        status.findings += report.findingCount
        status.firstFinding = status.firstFinding ?? report.findings.first?.description
        status.incompleteReason = status.incompleteReason ?? report.incompleteReason
        passStatus.update(status)
    }

    // MARK: Pace

    /// Rests for a time that depends on the time worked since the last rest, and then calls `renewIfDue`.
    private func pause(_ status: PassStatus.Status, after last: FamilyID?) async throws {
        let workTime = MonotonicTime.now().elapsed(since: workingSince)
        await sleep(min(max(workTime * pace.restRatio, pace.shortestRest), pace.longestRest))
        guard !isStopped else { throw Stopped() }
        try await renewIfDue(status, after: last)
        workingSince = .now()
    }

    /// Extends the lease and stores the progress if `Pace.saveInterval` has passed since the last time. The check of a
    /// family calls it where it must not pause.
    /// - Throws: `Stopped` if the server stops or another instance has the lease.
    private func renewIfDue(_ status: PassStatus.Status, after last: FamilyID?) async throws {
        guard !isStopped else { throw Stopped() }
        guard monotonicNow().elapsed(since: lastSaved) > pace.saveInterval else { return }
        let result = try await database.query(PassStatements.saveAndExtendLease(holder, status, after: last))
        guard result.affectedRows == 1 else { throw Stopped() }
        lastSaved = monotonicNow()
    }

    private func sleep(_ time: Duration) async {
        let poller = database.poller
        await withCheckedContinuation { continuation in
            restContinuation = continuation
            poller.schedule(at: .now() + time) { [weak self] in
                guard let self, let restContinuation else { return }
                self.restContinuation = nil
                restContinuation.resume()
            }
        }
    }

    private func report(_ error: any Error) {
        guard !isStopped else { return }
        log.write(.warning, "audit_check_delayed") { $0.field("cause", "\(error)") }
    }
}

extension FamilyID {
    /// The position after all families. The checks that belong to no family follow there.
    fileprivate static let end = FamilyID(high: .max, low: .max)
}

extension PassStatus.Status {
    init(_ row: Row) throws(PostgresError) {
        self.init()
        startedAt = try row["started_at"]
        (families, entries, findings) = (try row["families"], try row["entries"], try row["findings"])
        (firstFinding, incompleteReason) = (try row["first_finding"], try row["incomplete"])
        finishedAt = try row["finished_at"]
        (lastPassFamilies, lastPassEntries) = (try row["last_families"], try row["last_entries"])
        (lastPassFindings, lastPassFirstFinding) = (try row["last_findings"], try row["last_finding"])
        lastPassIncompleteReason = try row["last_incomplete"]
    }
}
