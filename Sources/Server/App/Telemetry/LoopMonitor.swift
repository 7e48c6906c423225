import Postgres
import Reactor
import TimeZones

/// One loop's figures, as they were last published.
final class LoopGauges: Sendable {
    /// The number of open database sessions of the loop.
    let databaseSessions = Counter()
    /// The number of statements that wait for a database session.
    let waitingStatements = Counter()
    /// The number of statements and writes that were refused because a queue was full or they waited too long.
    let refusals = Counter()
    /// The delay with which the loop ran the monitor's last timer, in nanoseconds.
    let lagNanoseconds = Counter()
    /// The number of committed acts.
    let writes = Counter()
    /// The number of shared transactions (`Ledger.batchCount`).
    let batches = Counter()
    /// The number of decisions that were made again (`Ledger.Tally.lostRaces`).
    let lostRaces = Counter()
    /// The number of transactions that decided while the family's row was locked.
    let lockedRows = Counter()
}

/// Publishes one loop's figures twice a second, and measures how late the loop runs its timers. One loop also takes the
/// server's samples and looks for a new release of the time zone database.
final class LoopMonitor {
    private static let period = Duration.milliseconds(500)

    private let services: Services
    private let gauges: LoopGauges
    /// The server's figures, of which this loop takes samples; nil on every loop but one.
    private let telemetry: Telemetry?
    private var nextTelemetrySample = MonotonicTime.now()

    init(_ services: Services, _ gauges: LoopGauges, sampling telemetry: Telemetry?) {
        self.services = services
        self.gauges = gauges
        self.telemetry = telemetry
    }

    /// Publishes the figures now and in every period from then on, as long as this object lives and the loop runs.
    func start() {
        publish()
        let due = MonotonicTime.now() + Self.period
        services.database.poller.schedule(at: due) { [weak self] in
            guard let self else { return }
            gauges.lagNanoseconds.set(MonotonicTime.now().nanoseconds(since: due))
            start()
        }
    }

    private func publish() {
        gauges.databaseSessions.set(services.database.openConnections)
        gauges.waitingStatements.set(services.database.waitingRequests)
        gauges.refusals.set(services.database.refusalCount + services.ledger.refusalCount)
        let tally = services.ledger.tally
        gauges.writes.set(tally.committedActs)
        gauges.batches.set(services.ledger.batchCount)
        gauges.lostRaces.set(tally.lostRaces)
        gauges.lockedRows.set(tally.lockedDecisions)
        let now = MonotonicTime.now()
        guard let telemetry, now >= nextTelemetrySample else { return }
        telemetry.recordSample()
        ZoneDatabase.system.refresh()
        nextTelemetrySample = now + Telemetry.History.period
    }
}
