import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Whether the server can work: the database answers in time and takes writes, and their clocks agree.
final class Readiness {
    /// The time that the database may take.
    static let timeout = Duration.seconds(1)
    /// The largest difference between the two clocks at which the server is ready: tokens, due times and sequence
    /// stamps compare them.
    static let largestSkew = Timestamp.Span.seconds(30)

    /// The time for which a successful probe of writes is reused, so that many load balancers cost no more than one.
    static let probeLifetime = Timestamp.Span.seconds(5)
    /// The time for which a probe that found a fault is reused.
    static let faultLifetime = Timestamp.Span.seconds(1)

    private let services: Services
    private let telemetry: Telemetry
    /// The last probe of writes on this loop; nil before the first.
    private var probe: (time: Timestamp, fault: WriteFault?)?

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
    func check(_ context: CallContext, _ call: Call<NoParameters, NoBody>) async throws -> ReadinessAnswer {
        guard !telemetry.isDraining else { throw APIError.serverIsStopping }
        guard let (theirs, findings) = await databaseTime() else { throw APIError.databaseIsSilent }
        let skew = theirs - services.clock.now()
        guard -Self.largestSkew.microseconds...Self.largestSkew.microseconds ~= skew.microseconds else {
            let seconds = skew.microseconds / 1_000_000
            throw APIError.databaseClockDiffers(bySeconds: seconds)
        }
        if let fault = await writeFault(at: services.clock.now()) {
            throw APIError.databaseRefusesWrites(fault)
        }
        // Taking the server out of service would not update the log: its status is shown, but is no reason for a 503.
        let head = services.checkpointStatus
        head.pass.setOpenFindings(findings)
        let check = head.pass.now
        return ReadinessAnswer(
            status: "ok", auditLog: head.alarm(at: services.clock.now()).rawValue,
            auditState: head.pass.verdict.rawValue, auditCheckedAt: check?.finishedAt,
            auditCheckPercent: check?.percent, auditFindings: findings,
            scheduler: telemetry.scheduler.verdict(at: services.clock.now()).rawValue
        )
    }

    /// The database's time, and the findings about the audit log that are open; nil when it does not answer within the
    /// timeout.
    private func databaseTime() async -> (Timestamp, findings: Int)? {
        await inTime { database in
            let row = try await database.query(
                "SELECT clock_timestamp() AS now, o.count AS findings FROM (\(AuditFindingStatements.countOpen)) o"
            ).one()
            return (try row["now"], try row["findings"])
        }
    }

    /// Returns the fault for which the database takes no writes, by a probe that is not too old; nil without one. A
    /// probe that fails otherwise changes nothing.
    private func writeFault(at now: Timestamp) async -> WriteFault? {
        let last = probe
        let lifetime = last?.fault == nil ? Self.probeLifetime : Self.faultLifetime
        if let last, abs((now - last.time).microseconds) < lifetime.microseconds { return last.fault }
        // Requests that come meanwhile have the last result.
        probe = (now, last?.fault)
        guard let fault = await inTime({ try await $0.writeFault() }) else { return last?.fault }
        probe = (now, fault)
        return fault
    }

    /// Returns the database's answer; nil when it fails, or does not come within the timeout.
    private func inTime<Value: Sendable>(_ ask: @escaping (Database) async throws -> Value) async -> Value? {
        let database = services.database
        return await withCheckedContinuation { continuation in
            // The first to come resumes; both are on this loop.
            var waiting: CheckedContinuation<Value?, Never>? = continuation
            func resume(_ value: Value?) {
                waiting?.resume(returning: value)
                waiting = nil
            }
            let timer = database.poller.schedule(at: .now() + Self.timeout) { resume(nil) }
            database.poller.spawn {
                let value = try? await ask(database)
                database.poller.cancel(timer)
                resume(value)
            }
        }
    }
}
