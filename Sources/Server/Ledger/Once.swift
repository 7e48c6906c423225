import Contract
import Domain
import Postgres
import SQL

/// A write that its client has named, so that doing it again gives the first answer again.
///
/// The answer is recorded in the act's own transaction: there is no moment at which the act is done and its answer is
/// not known.
struct Once {
    let user: UserID
    let key: IdempotencyKey

    /// The first answer, or nil when there is none yet.
    /// - Throws: 422 when the key was used for another request.
    func earlierAnswer<Answer: WireContent>(_ queries: any Queries) async throws -> Answer? {
        let rows = try await queries.query(
            "SELECT fingerprint, body FROM idempotency_keys WHERE user_id = \(user) AND key = \(key.key)")
        guard let row = rows.first else { return nil }
        guard try row["fingerprint"] == key.fingerprint else {
            throw APIError(
                .validationFailed, "This Idempotency-Key was used for another request.", field: "Idempotency-Key")
        }
        let body: [UInt8] = try row["body"]
        return try Answer(content: body.span)
    }

    /// The part of the act's statement that keeps the answer.
    func record(_ answer: [UInt8], at now: Timestamp) -> SQL {
        """
        , once AS (
            INSERT INTO idempotency_keys (user_id, key, fingerprint, status, body, created_at)
            SELECT \(user), \(key.key), \(key.fingerprint), \(key.status), \(answer), \(now) FROM tick
        )
        """
    }
}
