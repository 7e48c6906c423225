import Audit
import Contract
import Domain
import Postgres
import SQL

/// Cancels open nags of connections before another act: the departure of a child or a guardian from a family, a block,
/// or a change of a connection that would cancel more nags than one act can.
///
/// A trigger refuses a departure or a block while such nags are open, and locks the rows that a new nag depends on. So
/// no nag stays open, whatever happens concurrently. If the process dies between the acts, some nags are cancelled and
/// nothing else has happened.
struct ConnectionNagCancellation {
    private static let maxAttempts = 4

    let database: any Queries
    let ledger: Ledger

    init(_ services: Services) { (database, ledger) = (services.database, services.ledger) }

    /// Runs the body. If it violates the constraint, cancels the nags and runs the body again, at most `maxAttempts`
    /// times in all.
    /// - Parameter recipientQuery: a query for `family_id` and `recipient_id` of the open nags.
    func cancelAndRetry<Answer>(
        onViolationOf constraint: ConstraintName, _ recipientQuery: SQL, _ context: CallContext,
        _ body: () async throws -> Answer
    ) async throws -> Answer {
        for _ in 1..<Self.maxAttempts {
            do {
                return try await body()
            } catch let error as PostgresError where error.violates(constraint) {
                try await cancel(recipientQuery, context)
            }
        }
        return try await body()
    }

    /// Cancels the nags, with separate acts for each recipient. The actor is the system, so the entries do not reveal
    /// who blocked whom.
    /// - Parameter recipientQuery: a query for `family_id` and `recipient_id` of the open nags.
    func cancel(_ recipientQuery: SQL, _ context: CallContext) async throws {
        let recipients = try await database.query(recipientQuery).map {
            row throws(PostgresError) -> (FamilyID, UserID) in
            (try row["family_id"], try row["recipient_id"])
        }
        for (ledgerID, recipient) in recipients {
            while try await cancelBatch(of: recipient, in: ledgerID, context) == NagStatements.cancelBatchSize {}
        }
    }

    /// Cancels a batch of a recipient's open nags in one act.
    /// - Returns: the number of nags that were cancelled.
    private func cancelBatch(of recipient: UserID, in ledgerID: FamilyID, _ context: CallContext) async throws -> Int {
        var cancelledCount = 0
        let _: NoAnswer = try await ledger.write(context, in: ledgerID) { queries in
            let row = try await queries.query(NagStatements.cancellationFacts(of: recipient, in: ledgerID)).onlyRow()
            cancelledCount = min(try row["count"], NagStatements.cancelBatchSize)
            if cancelledCount == 0 { return .answer(NoAnswer()) }
            return .perform(
                Act(
                    kind: .nagsCancelled, basis: .nothingChanged(since: try row["seq"]),
                    actor: SystemActor.scheduler.retyped(), subject: try row["pseudonym"],
                    details: ["cancelled_nags": "\(cancelledCount)"], stampedRows: cancelledCount,
                    statements: NagStatements.cancelOpenBatch(of: recipient, in: ledgerID, at: context.now)),
                NoAnswer())
        }
        return cancelledCount
    }
}
