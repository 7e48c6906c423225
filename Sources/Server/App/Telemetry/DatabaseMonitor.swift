import Domain
import Postgres
import Reactor
import SQL

/// The figures of the database, as this instance last read them.
struct DatabaseFigures: Sendable {
    /// The time by which the server's clock is ahead of the database's.
    let serverClockLead: Timestamp.Span
    let replication: ReplicationStatus
    /// The lag of the slowest standby; zero where it is not known.
    let lag: (bytes: Int, time: Duration)
}

/// Reads the database's clock and its replication every five seconds, for metrics; no request waits for it.
final class DatabaseMonitor {
    private static let period = Duration.seconds(5)

    private let database: Database
    private let clock: any WallClock
    private let telemetry: Telemetry
    private var lag = ReplicationLag()

    init(_ database: Database, _ clock: any WallClock, _ telemetry: Telemetry) {
        (self.database, self.clock, self.telemetry) = (database, clock, telemetry)
    }

    /// Runs as long as this object lives and the loop runs.
    func start() {
        let poller = database.poller
        poller.spawn { [weak self] in
            guard let self else { return }
            // Nil when the database does not answer: its last figures would be out of date.
            telemetry.setDatabaseFigures(try? await readFigures())
            poller.schedule(at: .now() + Self.period) { [weak self] in self?.start() }
        }
    }

    private func readFigures() async throws -> DatabaseFigures {
        let (databaseLead, row) = try await ClockSkew.measure(database, clock, beside: ReplicationStatus.source)
        let status = try ReplicationStatus(row)
        return DatabaseFigures(
            serverClockLead: Timestamp.Span(microseconds: -databaseLead.microseconds), replication: status,
            lag: lag.update(status, at: .now()))
    }
}
