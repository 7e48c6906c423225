import Audit
import Contract
import Domain
import Postgres

extension Nags {
    /// Past its final window, says the clock: the miss, the end of the recipient's streak, and the next instance of the
    /// series, all in one act. Once is the same as twice.
    ///
    /// Who calls decides that the window is over (`Escalation`): the demo's history so far, nothing while the server runs. A
    /// nag that is not open any more is left as it is.
    /// - Returns: the nag as it stands afterwards.
    /// - Throws: 404 when the family has no such nag.
    package func miss(_ id: NagID, in family: FamilyID, at now: Timestamp) async throws -> NagResponse {
        let context = CallContext(
            now: now, trace: services.random.identifier(at: now), request: services.random.identifier(at: now),
            idempotency: nil, ifMatch: nil)
        return try await services.ledger.write(context, in: family) { queries in
            let row = try await queries.query(NagStatements.nag(id, in: family)).first
            guard let row, let record = try NagRecord(row) else { throw APIError(.notFound, "There is no such nag.") }
            guard record.nag.status == .open else { return .answer(record.nag) }
            var nag = record.nag
            nag.status = .missed
            var statements = [
                NagStatements.miss(id, at: now),
                NagStatements.append(
                    .missed, services.random.identifier(at: now), to: id, from: nag.creatorID,
                    for: nag.recipientID, by: SystemActor.scheduler, at: now),
            ]
            var details: AuditBody = [:]
            if let accrual = try await gamification.accrual(
                of: .missed, nag: id, for: nag.recipientID, in: family, zone: record.timeZone, at: now, queries)
            {
                statements += accrual.statements
                details = accrual.details
            }
            if let successor = try await successor(of: record, at: now, queries) {
                statements += successor.statements
                details["next_nag"] = successor.id.description
                details["next_due_at"] = successor.dueAt.rfc3339
            }
            let act = record.act(
                .nagMissed, by: SystemActor.scheduler.retyped(), details: details, stampedRows: 2,
                statements: statements)
            return .perform(act, nag)
        }
    }
}
