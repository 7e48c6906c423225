import Postgres
import Reactor

/// One loop's figures, published by its pulse.
final class LoopGauges: Sendable {
    /// Sessions with the database.
    let sessions = Counter()
    /// Requests that wait for one.
    let waiting = Counter()
    /// How late the loop came to its last pulse.
    let lagNanoseconds = Counter()
    let writes = Counter()
    let batches = Counter()
    let lostRaces = Counter()
    let heldRows = Counter()
}

/// Publishes what lives on one loop, twice a second, and measures by the way how long the loop keeps things waiting.
final class LoopPulse {
    private static let period = Duration.milliseconds(500)

    private let services: Services
    private let gauges: LoopGauges
    /// Takes the server's samples too; one loop does.
    private let telemetry: Telemetry?
    private var nextSample = MonotonicTime.now()

    init(_ services: Services, _ gauges: LoopGauges, sampling telemetry: Telemetry?) {
        self.services = services
        self.gauges = gauges
        self.telemetry = telemetry
    }

    /// Beats for as long as this object lives and the loop runs.
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
        gauges.sessions.set(services.database.openConnections)
        gauges.waiting.set(services.database.waiting)
        let tally = services.ledger.tally
        gauges.writes.set(tally.writes)
        gauges.batches.set(services.ledger.batches)
        gauges.lostRaces.set(tally.lostRaces)
        gauges.heldRows.set(tally.heldRows)
        let now = MonotonicTime.now()
        guard let telemetry, now >= nextSample else { return }
        telemetry.sample()
        nextSample = now + Telemetry.History.period
    }
}
