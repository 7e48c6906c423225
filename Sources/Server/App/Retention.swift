import Domain
import Postgres
import SQL

/// A rule of retention: the time for which one kind of data is kept, and the statements that delete or clear it.
struct RetentionRule: Sendable {
    /// The name of the table. If the rule concerns only some of its rows or a part of each row, it is a name for them,
    /// such as `unused_attachments` or `nag_words`.
    let name: String
    let period: Timestamp.Span
    /// Returns a statement that counts, as `count`, what is due in rows older than a moment; nil for data that is kept
    /// for a technical reason.
    let countDue: (@Sendable (Timestamp) -> SQL)?
    /// Returns a statement that deletes or clears at most `count` rows: those older than `moment`, or, in a technical
    /// rule, those that are due at that moment.
    let clearDue: @Sendable (_ count: Int, _ moment: Timestamp) -> SQL

    init(
        _ name: String, _ period: Timestamp.Span, countDue: @escaping @Sendable (Timestamp) -> SQL,
        clearDue: @escaping @Sendable (_ count: Int, _ moment: Timestamp) -> SQL
    ) {
        (self.name, self.period, self.countDue) = (name, period, countDue)
        self.clearDue = clearDue
    }

    /// Creates a rule whose statement itself determines which rows are due.
    init(
        technical name: String, _ period: Timestamp.Span,
        clearDue: @escaping @Sendable (_ count: Int, _ now: Timestamp) -> SQL
    ) {
        (self.name, self.period, countDue) = (name, period, nil)
        self.clearDue = clearDue
    }

    /// Returns the time to give to the statements: for a technical rule `now`, for any other the time before which rows
    /// are due.
    func cutoff(at now: Timestamp) -> Timestamp { countDue == nil ? now : now - period }
}

/// The rules for all data that is kept for a limited time.
///
/// The audit log has its own retention of 36 months (`nagz audit prune`), because only the schema's owner may delete
/// from it; deleted accounts are purged by `AccountPurge`. The oldest rows are deleted first, so that what is left of a
/// person's points is the end of their history.
enum Retention {
    static let year = Timestamp.Span.days(366)
    static let twoYears = Timestamp.Span.days(2 * 366)
    static let threeYears = Timestamp.Span.days(3 * 366)

    static let rules: [RetentionRule] = [
        // What the server needs for a time
        RetentionRule(
            technical: "idempotency_keys", IdempotencyRecord.retention, clearDue: IdempotencyRecord.deleteExpired),
        RetentionRule(technical: "sign_in_attempts", Attempts.window, clearDue: AttemptStatements.deleteExpired),
        RetentionRule(
            technical: "pin_attempts", PINAttempts.lifetime.beforeLockout,
            clearDue: PINAttemptStatements.deleteExpired),
        RetentionRule(
            technical: "known_addresses", KnownAddresses.lifetime, clearDue: KnownAddressStatements.deleteExpired),
        RetentionRule(
            technical: "device_secrets", DeviceSecrets.lifetime, clearDue: DeviceSecretStatements.deleteExpired),
        RetentionRule(technical: "account_codes", AccountCodes.lifetime, clearDue: AccountCodeStatements.deleteExpired),
        RetentionRule(technical: "phone_codes", PhoneCodes.lifetime, clearDue: PhoneCodeStatements.deleteExpired),
        RetentionRule(
            technical: "socket_tickets", SocketTickets.lifetime, clearDue: SocketTicketStatements.deleteExpired),
        RetentionRule(technical: "sessions", SessionStatements.retention, clearDue: SessionStatements.deleteExpired),
        RetentionRule(technical: "refusal_counts", RefusalCount.window, clearDue: RefusalCount.deleteExpired),
        RetentionRule(technical: "daily_counts", DailyLimit.day, clearDue: DailyCount.deleteExpired),
        ExecutionStatements.retention, ExecutionStatements.retentionOfSessions,
        ExecutionStatements.retentionOfConfirmations, DraftStatements.retention,
        // What people did and said
        NagStatements.retentionOfEvents, NagStatements.retentionOfWords, NagStatements.retentionOfExcuses,
        IngestionStatements.retentionOfEnrichments, IngestionStatements.retentionOfInputs, AIStatements.retention,
        PolicyStatements.retentionOfComments, GamificationStatements.retention, IncentiveStatements.retention,
        DeliveryStatements.retention, AbuseReportStatements.retention, AttachmentStatements.retention,
        AttachmentStatements.retentionOfUnused,
    ]

    /// Applies every rule to the rows that are due, in batches.
    /// - Returns: the number of rows that were deleted or cleared, by rule.
    static func run(
        _ database: any Queries, batchSize: Int, at now: Timestamp
    ) async throws(PostgresError) -> [(name: String, rows: Int)] {
        var rowCounts: [(name: String, rows: Int)] = []
        for rule in rules {
            var (rows, count) = (0, batchSize)
            while count == batchSize {
                count = try await database.query(rule.clearDue(batchSize, rule.cutoff(at: now))).affectedRows
                rows += count
            }
            rowCounts.append((rule.name, rows))
        }
        return rowCounts
    }

    /// Counts what is due, and changes nothing. Technical rules are left out.
    static func countDueRows(
        _ database: any Queries, at now: Timestamp
    ) async throws -> [(rule: RetentionRule, rows: Int)] {
        var dueCounts: [(rule: RetentionRule, rows: Int)] = []
        for rule in rules {
            guard let countDue = rule.countDue else { continue }
            let row = try await database.query(countDue(rule.cutoff(at: now))).onlyRow()
            dueCounts.append((rule, try row["count"]))
        }
        return dueCounts
    }
}

/// The command `nagz admin retention`: it applies the rules of retention now, or in a dry run only counts what is due.
public enum RetentionCommand {
    /// A line of the command's output, which is about one rule that is not technical.
    public struct Line: Sendable {
        public let name: String
        /// The number of days for which the data is kept.
        public let days: Int
        /// The number of rows that are due, before they are deleted or cleared.
        public let dueRows: Int
    }

    /// Counts what is due, and deletes or clears it unless this is a dry run. Technical rules are applied too, but not
    /// counted.
    public static func run(
        databaseURL: String, isDryRun: Bool, clock: any WallClock = SystemClock()
    ) async throws -> [Line] {
        try await Schema.withDatabase(databaseURL) { database in
            let now = clock.now()
            let lines = try await Retention.countDueRows(database, at: now).map { rule, rows in
                Line(name: rule.name, days: Int(rule.period.microseconds / 86_400_000_000), dueRows: rows)
            }
            if !isDryRun { _ = try await Retention.run(database, batchSize: Housekeeping.batchSize, at: now) }
            return lines
        }
    }
}
