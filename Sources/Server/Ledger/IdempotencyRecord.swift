import Contract
import Domain
import Postgres
import SQL

/// A write that its client has named with an `Idempotency-Key`, so that a retry gets the first answer again.
///
/// The answer is stored in the act's own transaction: it is known as soon as the act is done. Answers are kept for a
/// day.
struct IdempotencyRecord {
    static let retention = Timestamp.Span.days(1)

    private let caller: Caller
    private let key: IdempotencyKey

    /// Creates the record of a caller's write; nil when the client sent no `Idempotency-Key`.
    init?(_ caller: Caller) {
        guard let key = caller.context.idempotency else { return nil }
        self.caller = caller
        self.key = key
    }

    /// Returns the stored answer, and marks the caller's response as a replay. Returns nil when there is no answer yet,
    /// and when the session has ended.
    /// - Throws: 422 when the key was used for another request.
    func replayEarlierAnswer<Answer: WireContent>(_ queries: any Queries) async throws -> Answer? {
        let rows = try await queries.query(
            """
            SELECT k.fingerprint, k.body FROM idempotency_keys k JOIN users u ON u.id = k.user_id
            WHERE u.id = \(caller.userID) AND k.key = \(key.digest) AND \(caller.sessionCheck)
            """)
        guard let row = rows.first else { return nil }
        guard try row["fingerprint"] == key.fingerprint else { throw APIError.idempotencyKeyWasUsed }
        let body: [UInt8] = try row["body"]
        caller.markResponseReplayed()
        return try Answer(content: body.span)
    }

    /// Returns the part of the act's statement that stores the answer.
    func insert(_ answer: [UInt8]) -> SQL {
        """
        , once AS (
            INSERT INTO idempotency_keys (user_id, key, fingerprint, status, body, created_at)
            SELECT \(caller.userID), \(key.digest), \(key.fingerprint), \(key.successStatus), \(answer), now FROM ledger_stamp
        )
        """
    }

    /// Deletes at most `count` expired answers.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM idempotency_keys WHERE (user_id, key) IN (
            SELECT user_id, key FROM idempotency_keys WHERE created_at < \(now - retention)
            ORDER BY created_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
