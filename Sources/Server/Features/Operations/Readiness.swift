import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Whether the server can work: the database answers in time, and their clocks agree.
final class Readiness {
    /// How long the database may take.
    static let timeout = Duration.seconds(1)
    /// Tokens, due times and sequence stamps compare the two clocks.
    static let largestSkew = Timestamp.Span.seconds(30)

    private let services: Services
    private let telemetry: Telemetry

    init(_ services: Services, _ telemetry: Telemetry) {
        self.services = services
        self.telemetry = telemetry
    }

    /// The group `operations`: what probes ask.
    func register(in routes: RouteTable) {
        routes.constant(API.checkLiveness, StatusAnswer(status: "ok"))
        routes.open(API.checkReadiness, check)
    }

    /// - Throws: 503 with the reason.
    func check(_ call: Call<NoParameters, NoBody>) async throws -> ReadinessAnswer {
        guard !telemetry.isDraining else {
            throw APIError(.unavailable, "The server is stopping.", retryAfter: 5)
        }
        guard let theirs = await databaseTime() else {
            throw APIError(.unavailable, "The database does not answer in time.", retryAfter: 1)
        }
        let skew = theirs - services.clock.now()
        guard -Self.largestSkew.microseconds...Self.largestSkew.microseconds ~= skew.microseconds else {
            let seconds = skew.microseconds / 1_000_000
            throw APIError(.unavailable, "The database's clock differs by \(seconds) seconds.", retryAfter: 30)
        }
        // Taking the server out of service would not update the log: its status is shown, but is no reason for a 503.
        let head = services.checkpointStatus
        return ReadinessAnswer(
            status: "ok", auditLog: head.alarm(at: services.clock.now()).rawValue,
            auditState: head.pass.verdict.rawValue,
            scheduler: telemetry.scheduler.verdict(at: services.clock.now()).rawValue
        )
    }

    /// The database's time; nil when it does not answer within the timeout.
    private func databaseTime() async -> Timestamp? {
        let database = services.database
        return await withCheckedContinuation { continuation in
            // The first to come resumes; both are on this loop.
            var waiting: CheckedContinuation<Timestamp?, Never>? = continuation
            func answer(_ time: Timestamp?) {
                waiting?.resume(returning: time)
                waiting = nil
            }
            let timer = database.poller.schedule(at: .now() + Self.timeout) { answer(nil) }
            database.poller.spawn {
                let time: Timestamp? = try? await database.query("SELECT clock_timestamp() AS now").one()["now"]
                database.poller.cancel(timer)
                answer(time)
            }
        }
    }
}
