import Audit
import Contract
import Domain
import Postgres

/// Deletes the accounts of people under 13 whom no family has admitted within thirty days of their sign-up.
///
/// Without a guardian's consent the server must not keep a child's data, nor an address that somebody else may own. Each
/// deletion is an act on the chain outside families, and the account's data is purged like that of any deleted account.
/// Any number of instances may run it at the same time.
struct UnclaimedAccounts {
    static let lifetime = Timestamp.Span.days(30)

    let database: any Queries
    let ledger: Ledger

    /// Deletes all unclaimed accounts.
    /// - Parameter context: makes the context of one act.
    /// - Returns: the number of accounts that this call deleted.
    func delete(_ context: () -> CallContext) async throws -> Int {
        try await DueBatches.run {
            let cutoff = context().now - Self.lifetime
            return try await database.query(
                AccountStatements.unclaimed(createdUpTo: cutoff, limit: DueBatches.size)
            ).map { row throws(PostgresError) -> UserID in try row["id"] }
        } _: {
            try await delete($0, context())
        }
    }

    /// Deletes one account.
    /// - Returns: false if it was admitted to a family or deleted in the meantime.
    private func delete(_ user: UserID, _ context: CallContext) async throws -> Bool {
        do {
            return try await ledger.performIfDue(context, in: .outside) { queries in
                let seq = try await Ledger.newestSequenceNumber(of: .outside, queries)
                let row = try await queries.query(AccountStatements.byID(user)).first
                guard let person = try row.map(Person.init),
                    person.status == AccountStatus.pendingGuardianConsent.rawValue
                else { return nil }
                return Act.accountDeletionOutsideFamilies(
                    of: user, person.pseudonym, by: SystemActor.scheduler.retyped(),
                    basis: .nothingChanged(since: seq), details: ["reason": "no_consent"], at: context.now)
            }
        } catch let error as PostgresError where error.violates(.deletedIsNoMember) {
            // A family admitted the person at this moment.
            return false
        }
    }
}
