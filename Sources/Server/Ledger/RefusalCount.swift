import Audit
import Domain
import Postgres
import SQL

/// The count of one person's equal refusals within an hour.
///
/// Of equal denials the audit log always records the first; after it the 10th, the 100th, the 1,000th and so on, each
/// with the number as its `count`. So a person who asks again and again cannot fill their family's log.
struct RefusalCount {
    static let window = Timestamp.Span.hours(1)

    /// The SHA-256 of a denial's family, kind, actor, subject, resource and details, or of the family and person of
    /// inputs: equal for equal refusals.
    private let subjectHash: [UInt8]

    /// Creates the count of a denial; nil for any other act. Failed sign-ins have limits of their own.
    init?(_ act: Act, in family: FamilyID) {
        guard act.kind.isDenial else { return nil }
        let ids = [
            family.description, act.actor.description, act.subject?.description ?? "", act.resource?.description ?? "",
        ]
        subjectHash = sha256(
            Array((ids + [act.kind.rawValue, ""]).joined(separator: "\n").utf8) + act.details.canonicalBytes)
    }

    /// Creates the count of inputs from a person's outbox that were not applied. The caller limits how many of them the
    /// audit log records.
    init(ofInputsBy person: Pseudonym, in family: FamilyID) {
        let parts = [family.description, person.description, AuditKind.inputNotApplied.rawValue]
        subjectHash = sha256(Array(parts.joined(separator: "\n").utf8))
    }

    /// Returns whether the audit log records the refusal that is number `count` within the hour.
    static func isRecorded(_ count: Int) -> Bool {
        var power = 1
        while power < count {
            let (next, isTooLarge) = power.multipliedReportingOverflow(by: 10)
            if isTooLarge { return false }
            power = next
        }
        return power == count
    }

    /// Counts one more refusal.
    /// - Returns: the refusal's number within the hour; nil for the first one, which this function does not count.
    func incrementIfStarted(at now: Timestamp, _ queries: any Queries) async throws(PostgresError) -> Int? {
        try await queries.query(
            """
            UPDATE refusal_counts SET count = least(count, 1000000000) + 1
            WHERE subject = \(subjectHash) AND window_started > \(now - Self.window) RETURNING count
            """
        ).first?["count"]
    }

    /// Returns the part of an act's statement that starts the count.
    func insert(at now: Timestamp) -> SQL {
        """
        INSERT INTO refusal_counts (subject, window_started, count) SELECT \(subjectHash), \(now), 1 FROM ledger_stamp
        ON CONFLICT (subject) DO UPDATE SET window_started = excluded.window_started, count = 1
        """
    }

    /// Deletes at most `count` expired counts.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM refusal_counts WHERE subject IN (
            SELECT subject FROM refusal_counts WHERE window_started < \(now - window)
            ORDER BY window_started LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
