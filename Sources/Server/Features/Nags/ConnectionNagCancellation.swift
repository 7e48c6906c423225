import Audit
import Contract
import Domain
import Postgres
import SQL

/// Cancels open nags of connections before an act in another ledger: a departure of a child or a guardian from a
/// family, or a block.
///
/// A trigger refuses that act while such nags are open, and locks the rows that a new nag depends on. So none is left
/// open, whatever happens concurrently. If the process dies in between, some nags are cancelled and nothing else has
/// happened.
struct ConnectionNagCancellation {
    private static let attempts = 4

    let database: any Queries
    let ledger: Ledger

    init(_ services: Services) { (database, ledger) = (services.database, services.ledger) }

    /// Runs the body. If it violates the constraint, cancels the nags and runs it again.
    /// - Parameter nags: a query for `family_id` and `recipient_id` of the open nags.
    func before<Answer>(
        _ constraint: ConstraintName, _ nags: SQL, _ context: CallContext, _ body: () async throws -> Answer
    ) async throws -> Answer {
        for _ in 1..<Self.attempts {
            do {
                return try await body()
            } catch let error as PostgresError where error.violates(constraint) {
                try await cancel(nags, context)
            }
        }
        return try await body()
    }

    /// Cancels the nags, those of each recipient in acts of their own. The actor is the system: nobody learns from the
    /// entries who blocked whom.
    func cancel(_ nags: SQL, _ context: CallContext) async throws {
        let found = try await database.query(nags).map { row throws(PostgresError) -> (FamilyID, UserID) in
            (try row["family_id"], try row["recipient_id"])
        }
        for (chain, recipient) in found {
            while try await cancelSome(of: recipient, in: chain, context) == NagStatements.cancelBatchSize {}
        }
    }

    /// - Returns: how many it cancelled.
    private func cancelSome(of recipient: UserID, in chain: FamilyID, _ context: CallContext) async throws -> Int {
        var closing = 0
        let _: NoAnswer = try await ledger.write(context, in: chain) { queries in
            let row = try await queries.query(NagStatements.openInLedger(of: recipient, in: chain)).one()
            closing = min(try row["count"], NagStatements.cancelBatchSize)
            if closing == 0 { return .answer(NoAnswer()) }
            return .perform(
                Act(
                    kind: .nagsCancelled, basis: .nothingChanged(since: try row["seq"]),
                    actor: SystemActor.scheduler.retyped(), subject: try row["pseudonym"],
                    details: ["cancelled_nags": "\(closing)"], stampedRows: closing,
                    statements: NagStatements.cancelOpen(of: recipient, in: chain, at: context.now)),
                NoAnswer())
        }
        return closing
    }
}
