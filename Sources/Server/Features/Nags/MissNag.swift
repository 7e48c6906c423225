import Audit
import Contract
import Domain
import Postgres

extension Nags {
    /// Ends an open nag as missed. The same act scores the miss, if the recipient has consented to points, and creates
    /// the next nag of the series, if there is one. A nag that is not open stays as it is.
    ///
    /// The caller MUST know that the time of the escalation's last step has come. Only the demo's history uses this; a
    /// running server uses `escalate`.
    package func miss(_ id: NagID, in family: FamilyID, at now: Timestamp) async throws -> NagResponse {
        let context = CallContext(systemActAt: now, services.random)
        return try await services.ledger.write(context, in: family) { queries in
            let row = try await queries.query(NagStatements.nag(id, in: family)).first
            guard let row, let record = try NagRecord(row) else { throw APIError.noSuchNag }
            guard record.nag.status == .open else { return .answer(record.nag) }
            var nag = record.nag
            nag.status = .missed
            return .perform(try await missAct(record, at: now, queries), nag)
        }
    }

    /// Returns the act that ends an open nag as missed.
    func missAct(_ record: NagRecord, at now: Timestamp, _ queries: any Queries) async throws -> Act {
        let nag = record.nag
        var statements = [
            NagStatements.markMissed(nag.id, at: now),
            NagStatements.insertEvent(
                .missed, services.random.identifier(at: now), to: nag.id, from: nag.creatorID, for: nag.recipientID,
                by: SystemActor.scheduler, at: now, source: .system),
        ]
        var details: AuditBody = [:]
        if let accrual = try await accrual(of: .missed, record, at: now, queries) {
            statements += accrual.statements
            details = accrual.details
        }
        if let successor = try await successor(of: record, at: now, queries) {
            statements += successor.statements
            details.merge(successor.details)
        }
        return record.act(
            .nagMissed, by: SystemActor.scheduler.retyped(), details: details, stampedRows: 2, statements: statements)
    }
}
