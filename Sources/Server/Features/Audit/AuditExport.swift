import Audit
import Contract
import Domain
import HTTP
import JSON
import Postgres
import Reactor

/// An audit log as a file, and the server's own verification of it.
final class AuditExport {
    private let services: Services
    private let findings: AuditFindings

    init(_ services: Services, _ findings: AuditFindings) {
        self.services = services
        self.findings = findings
    }

    /// Sends the audit log's records as JSON lines while they are read. The response has no length. It ends early if a
    /// read fails, or the caller may no longer read the audit log.
    /// - Throws: 422 for a negative `after`; 429 while too many exports of the person or their network are under way,
    ///   503 for too many in all.
    func stream(_ caller: Caller, _ call: Call<AuditExportQuery, NoBody>) async throws -> Response {
        let after = call.parameters.after.map(Int64.init)
        guard after ?? 0 >= 0 else { throw APIError.exportStartIsNegative }
        let runningExport = try services.exportLimiter.begin(caller.userID, from: caller.context.remote)
        let reader = try await services.authorizeAndRecordRead(
            caller, of: call.parameters.familyID, reading: API.exportAuditLog.operation,
            details: after.map { ["after": String($0)] } ?? [:])
        let loopValues = LoopBound(
            value: (source: makeSource(for: caller), cooperativeYield: cooperativeYield, services: services))
        let (origin, now) = (origin, caller.now)
        return Response(
            .ok, .jsonLines,
            body: .stream { body in
                let (source, cooperativeYield, services) = loopValues.value
                defer { withExtendedLifetime(runningExport) {} }
                try await source.run(of: reader.family, after: after, origin: origin, at: now) { lines in
                    try await services.recheckReader(reader, caller)
                    var bytes: [UInt8] = []
                    bytes.reserveCapacity(1_024 * lines.count)
                    for (index, line) in lines.enumerated() {
                        await cooperativeYield.yieldIfDue(after: index)
                        bytes += line.jsonBytes
                        bytes.append(UInt8(ascii: "\n"))
                    }
                    try await body.write(bytes)
                }
            })
    }

    /// Verifies the content of an export, and for an administrator who names no family also the signatures of all
    /// checkpoints. The first finding is stored.
    /// - Throws: 429 while too many exports and checks of the person or their network are under way, 503 for too many
    ///   in all.
    func verify(_ caller: Caller, _ call: Call<AuditScopeQuery, NoBody>) async throws -> AuditVerification {
        let runningExport = try services.exportLimiter.begin(caller.userID, from: caller.context.remote)
        defer { withExtendedLifetime(runningExport) {} }
        let reader = try await services.authorizeAndRecordRead(
            caller, of: call.parameters.familyID, reading: API.verifyAuditLog.operation)
        let startTime = MonotonicTime.now()
        let pinnedVerifiers = services.auditKeyring.map { $0.signingKeys.map(\.verifier) } ?? []
        // The newest checkpoint that this process has seen serves as a witness.
        let witness = services.checkpointStatus.current.note.flatMap { SignedNote($0) }
        var verifier = AuditLogVerifier(
            pinned: pinnedVerifiers, witnesses: reader.family == nil ? witness.map { [$0] } ?? [] : [],
            policy: services.checkpointStatus.verificationPolicy)
        var finding: AuditFinding?
        let cooperativeYield = cooperativeYield
        do {
            let source = makeSource(for: caller)
            try await source.run(of: reader.family, after: nil, origin: origin, at: caller.now) { lines in
                for (index, line) in lines.enumerated() {
                    await cooperativeYield.yieldIfDue(after: index)
                    guard let record = ExportRecord(line) else { continue }
                    try verifier.check(record)
                }
            }
        } catch let error as AuditFinding {
            finding = error
        }
        if finding == nil, reader.family == nil, let keys = services.auditKeyring {
            let check = CheckpointCheck(services.throttledQueries(of: caller), keys)
            finding = try await check.firstForeignCheckpoint {
                await cooperativeYield.yieldIfDue(after: $0)
            }
        }
        let verdict = finding.map { AuditLogVerifier.Verdict.tampered($0) } ?? verifier.verdict()
        if case .tampered(let finding) = verdict {
            try await findings.store(
                KeptFinding(
                    id: services.random.identifier(at: caller.now), source: "verification", code: finding.code,
                    familyID: finding.family, n: finding.number.map { Int($0) }, message: finding.description,
                    foundAt: caller.now))
        }
        return AuditVerification(
            verdict, verifier, milliseconds: Int(MonotonicTime.now().elapsed(since: startTime) / .milliseconds(1)))
    }

    private func makeSource(for caller: Caller) -> AuditLogExport {
        AuditLogExport(services.throttledQueries(of: caller), services.sealing, on: services.database.poller)
    }
    private var cooperativeYield: CooperativeYield { CooperativeYield(poller: services.database.poller) }
    /// The log's name in its checkpoints; `nagz` where this server keeps no log.
    private var origin: String { services.auditKeyring?.origin ?? "nagz" }
}

extension AuditVerification {
    init(_ verdict: AuditLogVerifier.Verdict, _ verifier: AuditLogVerifier, milliseconds: Int) {
        self.init(
            verdict: "sound", entries: Int(verifier.entryCount), size: verifier.newestCheckpoint.map { Int($0.size) },
            milliseconds: milliseconds)
        switch verdict {
        case .sound: break
        case .incomplete(let reason): (self.verdict, message) = ("incomplete", reason)
        case .tampered(let finding):
            (self.verdict, code, message) = ("tampered", finding.code, finding.description)
            familyID = finding.family
            n = finding.number.map { Int($0) }
            position = finding.position.map { Int($0) }
        }
    }
}
