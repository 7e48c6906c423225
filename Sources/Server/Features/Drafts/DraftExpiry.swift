import Audit
import Contract
import Domain
import Postgres

/// Marks drafts as expired: after their lifetime, or because the author lacks a consent or has switched the AI off.
/// Until a draft is marked, each step checks its expiry itself.
///
/// Each draft is marked by an act in the chain of its family. Any number of instances may run this at the same time.
struct DraftExpiry {
    let database: any Queries
    let ledger: Ledger

    /// Marks all expired drafts.
    /// - Parameter context: makes the context of one act.
    /// - Returns: the number of drafts that this call marked.
    func run(_ context: () -> CallContext) async throws -> Int {
        try await DueBatches.run {
            try await database.query(
                DraftStatements.unmarkedExpiries(at: context().now, limit: DueBatches.size)
            ).map {
                row throws(PostgresError) -> (family: FamilyID, id: DraftID) in (try row["family_id"], try row["id"])
            }
        } _: { draft in
            try await expire(draft.id, in: draft.family, context())
        }
    }

    /// Marks one draft as expired.
    /// - Returns: false if it ended in another way in the meantime.
    private func expire(_ id: DraftID, in family: FamilyID, _ context: CallContext) async throws -> Bool {
        return try await ledger.performIfDue(context, in: family) { queries in
            let seq = try await Ledger.newestSequenceNumber(of: family, queries)
            let row = try await queries.query(
                DraftStatements.draft(id, for: SystemActor.scheduler, seesAll: true, in: family)
            ).first
            guard let draft = try row.map(StoredDraft.init)?.response, draft.progress.state.isOpen,
                draft.progress.state(at: context.now) == .expired
            else { return nil }
            var details = draft.auditDetails
            details["reason"] = draft.progress.endReason?.rawValue
            return Act(
                kind: .draftExpired, basis: .nothingChanged(since: seq), actor: SystemActor.scheduler.retyped(),
                resource: id.retyped(), details: details, stampedRows: 0,
                statements: [DraftStatements.end(id, as: .expired, at: context.now)])
        }
    }
}
