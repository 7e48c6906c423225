import Audit
import Contract
import Domain
import Postgres
import Reactor

/// The check of one family's audit log and of its rows in the database on request. The background check makes the same
/// comparison periodically.
final class AuditCheck {
    private let services: Services
    private let findings: AuditFindings

    init(_ services: Services, _ findings: AuditFindings) {
        self.services = services
        self.findings = findings
    }

    /// Verifies a family's audit log and compares the database's rows with it, for somebody who may read the log.
    /// Stores the first finding.
    /// - Throws: 403 for other callers, 404 for an administrator where neither a row nor an entry has the ID, 409 where
    ///   this server keeps no log, 422 for an administrator who names no family; 429 while too many checks and exports of the person or their network are under way, 503 for too many
    ///   in all.
    func check(_ caller: Caller, _ call: Call<NoParameters, AuditCheckOrder>) async throws -> AuditCheckResult {
        let runningExport = try services.exportLimiter.begin(caller.userID, from: caller.context.remote)
        defer { withExtendedLifetime(runningExport) {} }
        let reader = try await services.authorizeAndRecordRead(
            caller, of: call.body.familyID, reading: API.checkAuditLog.operation)
        guard let family = reader.family else { throw APIError.auditCheckNeedsFamily }
        guard let keys = services.auditKeyring else { throw APIError.noAuditLog }
        guard try await !services.database.query(ReconcileStatements.chain(family)).isEmpty else {
            throw APIError.noSuchAuditLog
        }
        let check = FamilyCheck(services.database, keys, services.sealing, clock: services.clock)
        let report = try await check.run(
            family,
            pause: { [services] _ in
                try await services.recheckReader(reader, caller)
                await services.database.poller.yieldSlice()
            })
        if let first = report.findings.first {
            try await findings.store(
                KeptFinding(
                    id: services.random.identifier(at: caller.now), source: "check",
                    code: first.problem == .broken ? first.found ?? first.problem.rawValue : first.problem.rawValue,
                    familyID: family, n: first.number.map { Int($0) }, message: first.description, foundAt: caller.now))
        }
        return AuditCheckResult(
            familyID: family, verdict: report.verdict, entries: Int(report.entryCount), rows: Int(report.comparedCount),
            findings: Int(report.findingCount), unproven: Int(report.unprovenCount),
            firstFindings: report.findings.map(\.description),
            firstUnproven: report.unprovenFindings.map(\.description), checkedAt: caller.now)
    }
}
