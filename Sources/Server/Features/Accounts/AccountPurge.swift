import Audit
import Contract
import Domain
import Postgres
import SQL

/// Removes personal data from accounts some days after their deletion: name, date of birth, preferences, a child's
/// settings, the person's own words in excuses, completions, inputs, drafts and comments on policies, the history of AI
/// answers, uploaded pictures, and the digests of known network addresses.
///
/// The account's id stays, because other members' history refers to it. So do consents, which are records, and the
/// audit log, which has its own retention. Each account is one act on the chain outside families. If the process dies,
/// the remaining accounts are found again. Any number of instances may run it at the same time.
struct AccountPurge {
    /// The allowed numbers of days between deletion and purge.
    static let allowedDays = 1...30
    /// The default number of days. It leaves two of the allowed days for an outage of the server.
    static let standardDays = 28
    /// The maximum number of rows that one statement outside the act changes.
    static let rowsPerBatch = 500

    /// An account to purge.
    struct DueAccount: Sendable {
        let id: UserID
        let deletedAt: Timestamp
    }

    let database: any Queries
    let ledger: Ledger
    /// The number of days between deletion and purge.
    let days: Int

    /// Reads the accounts to purge, the oldest deletions first; at most `limit` of them.
    func dueAccounts(at now: Timestamp, limit: Int) async throws -> [DueAccount] {
        let statement = AccountStatements.unpurgedAccounts(deletedUpTo: now - .days(Int64(days)), limit: limit)
        return try await database.query(statement).map { row throws(PostgresError) in
            DueAccount(id: try row["id"], deletedAt: try row["deleted_at"])
        }
    }

    /// Purges all accounts that are due.
    /// - Parameter context: makes the context of one act.
    /// - Returns: the number of purged accounts.
    func run(_ actor: Pseudonym, _ context: () -> CallContext) async throws -> Int {
        try await DueBatches.run {
            try await dueAccounts(at: context().now, limit: DueBatches.size)
        } _: {
            try await purge($0.id, actor, context())
        }
    }

    /// Purges one account.
    /// - Returns: false if another instance has purged it before.
    private func purge(_ user: UserID, _ actor: Pseudonym, _ context: CallContext) async throws -> Bool {
        for rows in [
            NagStatements.excuseWordsOfPerson, NagStatements.completionNotesOfPerson, NagStatements.notesOfPerson,
            IngestionStatements.summariesOfPerson, AIStatements.answersToPerson,
        ] {
            // A batch that erases nothing proves nothing: another instance may have erased the same rows.
            while try await !database.query(rows.keys(user, 1)).isEmpty {
                _ = try await database.query(rows.erase(rows.keys(user, Self.rowsPerBatch)))
            }
        }
        return try await ledger.performIfDue(context, in: .outside) { queries in
            guard let row = try await queries.query(AccountStatements.unpurgedAccount(user)).first else {
                return nil
            }
            return Act(
                kind: .accountPurged, basis: .nothingChanged(since: try row["seq"]), actor: actor,
                subject: try row["pseudonym"], sealingSubject: actor, stampedRows: 0,
                statements: [
                    AccountStatements.purge(user, at: context.now),
                    PreferenceStatements.deleteInLeftFamilies(of: user),
                    ChildSettingsStatements.deleteInFormerFamilies(of: user),
                    KnownAddressStatements.deleteAll(of: user),
                    PolicyStatements.deleteApprovalComments(of: user), AttachmentStatements.deleteAll(of: user),
                    ExecutionStatements.deleteAll(of: user), DraftStatements.deleteAll(of: user),
                ])
        }
    }
}

/// `nagz admin purge`: purges accounts from the command line.
public enum AccountPurgeCommand {
    public static let allowedDays = AccountPurge.allowedDays
    public static let standardDays = AccountPurge.standardDays

    /// Reports the accounts that are due, and purges them.
    /// - Parameters:
    ///   - isDryRun: reports only, and purges nothing.
    ///   - report: called for each account that is due.
    /// - Returns: the number of purged accounts; in a dry run, the number of reported ones.
    public static func run(
        databaseURL: String, keys: AuditKeyring, days: Int, isDryRun: Bool, clock: any WallClock = SystemClock(),
        report: @escaping @Sendable (_ user: UserID, _ deletedAt: Timestamp) -> Void
    ) async throws -> Int {
        try await Schema.withDatabase(databaseURL) { database in
            let tool = AuditMaintenance(database, keys, clock: clock)
            let purge = AccountPurge(database: database, ledger: tool.ledger, days: days)
            let dueAccounts = try await purge.dueAccounts(at: clock.now(), limit: .max)
            for account in dueAccounts { report(account.id, account.deletedAt) }
            if isDryRun { return dueAccounts.count }
            return try await purge.run(SystemActor.commandLine) { tool.context(clock.now()) }
        }
    }
}
