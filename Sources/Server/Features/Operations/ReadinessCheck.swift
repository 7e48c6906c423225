import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Answers readiness probes. The server is ready if it is not stopping, the database answers in time and accepts
/// writes, and the server's clock agrees with the database's.
final class ReadinessCheck {
    /// The time within which the database must answer each query.
    static let queryTimeout = Duration.seconds(1)

    /// The time for which a successful probe of writes is reused, so that many load balancers cost no more than one.
    static let successLifetime = Timestamp.Span.seconds(5)
    /// The time for which a probe that found a fault is reused.
    static let faultLifetime = Timestamp.Span.seconds(1)

    private let services: Services
    private let telemetry: Telemetry
    /// The last probe of writes on this loop; nil before the first.
    private var lastWriteProbe: (time: Timestamp, fault: WriteFault?)?

    init(_ services: Services, _ telemetry: Telemetry) {
        self.services = services
        self.telemetry = telemetry
    }

    /// Registers the operations of the tag `operations`: liveness and readiness, for probes.
    func register(in routes: RouteTable) {
        routes.constant(API.checkLiveness, StatusAnswer(status: "ok"))
        routes.open(API.checkReadiness, check)
    }

    /// Checks whether the server is ready.
    /// - Throws: 503 with the reason if it is not.
    func check(_ context: CallContext, _ call: Call<NoParameters, NoBody>) async throws -> ReadinessAnswer {
        guard !telemetry.isDraining else { throw APIError.serverIsStopping }
        guard let (databaseTime, findings) = await readDatabaseStatus() else { throw APIError.databaseDoesNotAnswer }
        let skew = databaseTime - services.clock.now()
        guard skew.microseconds.magnitude <= Ledger.maxClockSkew.microseconds.magnitude else {
            let seconds = skew.microseconds / 1_000_000
            throw APIError.databaseClockDiffers(bySeconds: seconds)
        }
        if let fault = await probeWritesIfStale(at: services.clock.now()) {
            throw APIError.databaseRefusesWrites(fault)
        }
        // The log's status is part of the answer, but no reason for a 503: taking the server out of service would not
        // update the log.
        let checkpointStatus = services.checkpointStatus
        checkpointStatus.passStatus.setOpenFindingCount(findings)
        let auditCheck = checkpointStatus.passStatus.current
        return ReadinessAnswer(
            status: "ok", auditLog: checkpointStatus.alarm(at: services.clock.now()).rawValue,
            auditState: checkpointStatus.passStatus.verdict.rawValue, auditCheckedAt: auditCheck?.finishedAt,
            auditCheckPercent: auditCheck?.percent, auditFindings: findings,
            scheduler: telemetry.scheduler.verdict(at: services.clock.now()).rawValue
        )
    }

    /// Returns the database's time and the number of open findings about the audit log; nil if the database does not
    /// answer within the timeout.
    private func readDatabaseStatus() async -> (now: Timestamp, openFindingCount: Int)? {
        await withTimeout { database in
            let row = try await database.query(
                "SELECT clock_timestamp() AS now, o.count AS findings FROM (\(AuditFindingStatements.countOpen)) o"
            ).onlyRow()
            return (try row["now"], try row["findings"])
        }
    }

    /// Returns the reason why the database refused the writes of a recent probe; nil if it accepted them. If the
    /// probe itself fails, the result is that of the probe before it.
    private func probeWritesIfStale(at now: Timestamp) async -> WriteFault? {
        let lastProbe = lastWriteProbe
        let lifetime = lastProbe?.fault == nil ? Self.successLifetime : Self.faultLifetime
        if let lastProbe, abs((now - lastProbe.time).microseconds) < lifetime.microseconds { return lastProbe.fault }
        // Requests that arrive during the probe get the last result.
        lastWriteProbe = (now, lastProbe?.fault)
        guard let fault = await withTimeout({ try await $0.probeWrites() }) else { return lastProbe?.fault }
        lastWriteProbe = (now, fault)
        return fault
    }

    /// Returns the result of the query; nil if the query fails, or has no result within the timeout.
    private func withTimeout<Value: Sendable>(_ query: @escaping (Database) async throws -> Value) async -> Value? {
        let database = services.database
        return await withCheckedContinuation { continuation in
            // The answer or the timer resumes the continuation, whichever comes first. Both run on this loop.
            var pendingContinuation: CheckedContinuation<Value?, Never>? = continuation
            func resume(_ value: Value?) {
                pendingContinuation?.resume(returning: value)
                pendingContinuation = nil
            }
            let timer = database.poller.schedule(at: .now() + Self.queryTimeout) { resume(nil) }
            database.poller.spawn {
                let value = try? await query(database)
                database.poller.cancel(timer)
                resume(value)
            }
        }
    }
}
