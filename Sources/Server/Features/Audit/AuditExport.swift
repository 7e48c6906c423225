import Audit
import Contract
import Domain
import HTTP
import JSON
import Postgres
import Reactor

/// A trail as a file, and the server's own check of it.
final class AuditExport {
    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Sends the lines as they are read: the answer has no length, and is cut off when something goes wrong on the way.
    func stream(_ caller: Caller, _ call: Call<AuditExportQuery, NoBody>) async throws -> Response {
        let after = call.parameters.after.map(Int64.init)
        guard after ?? 0 >= 0 else {
            throw APIError(.validationFailed, "after must not be negative.", field: "after")
        }
        let reader = try await services.auditReader(
            caller, of: call.parameters.familyID, reading: API.exportAuditTrail.operation,
            details: after.map { ["after": String($0)] } ?? [:])
        let (source, origin, now) = (LoopBound(value: source(for: caller)), origin, call.now)
        return Response(
            .ok, .jsonLines,
            body: .stream { body in
                try await source.value.run(of: reader.family, after: after, origin: origin, at: now) { lines in
                    var bytes: [UInt8] = []
                    bytes.reserveCapacity(1_024 * lines.count)
                    for line in lines {
                        bytes += line.jsonBytes
                        bytes.append(UInt8(ascii: "\n"))
                    }
                    try await body.write(bytes)
                }
            })
    }

    /// Checks what an export of it would hold.
    func verify(_ caller: Caller, _ call: Call<AuditScopeQuery, NoBody>) async throws -> AuditVerification {
        let reader = try await services.auditReader(
            caller, of: call.parameters.familyID, reading: API.verifyAuditTrail.operation)
        let started = MonotonicTime.now()
        let pinned = services.trailKeys.map { $0.signing.map(\.verifier) } ?? []
        // The newest checkpoint that this process has seen is a witness of its own.
        let witness = services.trailHead.current.note.flatMap { SignedNote($0) }
        var policy = TrailVerifier.Policy()
        policy.exposureWindow = .seconds(30)
        var verifier = TrailVerifier(
            pinned: pinned, witnesses: reader.family == nil ? witness.map { [$0] } ?? [] : [], policy: policy)
        var finding: TrailFinding?
        do {
            try await source(for: caller).run(of: reader.family, after: nil, origin: origin, at: call.now) { lines in
                for line in lines {
                    guard let record = ExportRecord(line) else { continue }
                    try verifier.check(record)
                }
            }
        } catch let error as TrailFinding {
            finding = error
        }
        let verdict = finding.map { TrailVerifier.Verdict.tampered($0) } ?? verifier.verdict()
        return AuditVerification(
            verdict, verifier, milliseconds: Int(MonotonicTime.now().elapsed(since: started) / .milliseconds(1)))
    }

    private func source(for caller: Caller) -> TrailExport {
        TrailExport(services.costlyReads(of: caller), services.sealing)
    }
    private var origin: String { services.trailKeys?.origin ?? "nagz" }
}

extension AuditVerification {
    init(_ verdict: TrailVerifier.Verdict, _ verifier: TrailVerifier, milliseconds: Int) {
        self.init(
            verdict: "sound", entries: Int(verifier.entries), size: verifier.newest.map { Int($0.size) },
            milliseconds: milliseconds)
        switch verdict {
        case .sound: break
        case .incomplete(let why): (self.verdict, message) = ("incomplete", why)
        case .tampered(let finding):
            (self.verdict, code, message) = ("tampered", finding.code, finding.description)
            familyID = finding.family
            n = finding.number.map { Int($0) }
            position = finding.position.map { Int($0) }
        }
    }
}
