import Audit
import Contract
import Domain
import Postgres
import SQL

/// The findings of verifications and checks on request. A finding stays open until an administrator acknowledges it
/// with a reason, even if a later verification finds nothing: whoever tampered could have undone it in between.
final class AuditFindings {
    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Lists the findings, the newest first, for administrators.
    func list(_ caller: Caller, _ call: Call<AuditFindingsQuery, NoBody>) async throws -> Page<KeptFinding> {
        _ = try await services.requireAdministrator(caller, .auditFindingReviewDenied)
        _ = try await services.authorizeAndRecordRead(caller, of: nil, reading: API.listAuditFindings.operation)
        let rows = try await services.database.query(AuditFindingStatements.page(call.parameters))
        return try Page(rows, answering: call.parameters.page) { try KeptFinding(ifAny: $0) }
    }

    /// Acknowledges a finding with a reason, which the audit log records. Repeating it returns the first answer.
    func acknowledge(
        _ caller: Caller, _ call: Call<AuditFindingPath, FindingAcknowledgement>
    ) async throws -> KeptFinding {
        _ = try await services.requireAdministrator(caller, .auditFindingReviewDenied)
        let finding: KeptFinding = try await services.ledger.write(caller, in: .outside) { queries in
            let seq = try await Ledger.newestSequenceNumber(of: .outside, queries)
            let account = try await services.access.account(caller, queries)
            guard account.isAdmin else { throw APIError(.authorizationDenied, .administratorOnly) }
            let rows = try await queries.query(AuditFindingStatements.finding(call.parameters.findingID))
            guard let row = rows.first, var finding = try KeptFinding(ifAny: row) else {
                throw APIError.noSuchAuditFinding
            }
            if finding.acknowledgedAt != nil { return .answer(finding) }
            (finding.acknowledgedAt, finding.acknowledgedBy) = (caller.now, account.id)
            finding.reason = call.body.reason
            var act = Act(
                kind: .auditFindingAcknowledged, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                resource: finding.id.retyped(),
                details: ["code": finding.code, "source": finding.source, "reason": call.body.reason], stampedRows: 0,
                statements: [AuditFindingStatements.acknowledge(finding)])
            act.details["family"] = finding.familyID?.description
            act.details["n"] = finding.n.map { "\($0)" }
            return .perform(act, finding)
        }
        try await refreshOpenFindingsCount()
        return finding
    }

    /// Stores a finding, unless the same one is stored already.
    func store(_ finding: KeptFinding) async throws {
        _ = try await services.database.query(AuditFindingStatements.insert(finding))
        try await refreshOpenFindingsCount()
    }

    /// Reads the number of open findings, for the metrics of this process.
    func refreshOpenFindingsCount() async throws {
        let row = try await services.database.query(AuditFindingStatements.countOpen).onlyRow()
        services.checkpointStatus.passStatus.setOpenFindingCount(try row["count"])
    }
}

extension KeptFinding {
    /// Reads a finding; nil for a row of nulls.
    fileprivate init?(ifAny row: Row) throws(PostgresError) {
        guard let id: AuditFindingID = try row["id"] else { return nil }
        let n: Int64? = try row["n"]
        self.init(
            id: id, source: try row["source"], code: try row["code"], familyID: try row["family_id"],
            n: n.map { Int($0) }, message: try row["message"], foundAt: try row["found_at"],
            acknowledgedAt: try row["acknowledged_at"], acknowledgedBy: try row["acknowledged_by"],
            reason: try row["reason"])
    }
}
