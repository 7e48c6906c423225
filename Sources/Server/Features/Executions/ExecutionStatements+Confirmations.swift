import Contract
import Domain
import SQL

/// The statements on confirmations: what a person has to agree to before a question is answered. `digest` is that of a
/// confirmation's token, and `requestDigest` that of the question and the prompt which it confirms.
extension ExecutionStatements {
    /// Part of an act: stores a request for a confirmation.
    /// - Parameter record: the question's record, which the history gets if the person declines.
    static func insertConfirmation(
        _ request: ExecutionAttempt.ConfirmationRequest, _ record: ExecutionRecord?, of user: UserID,
        in family: FamilyID, until end: Timestamp
    ) -> SQL {
        let text = record.map { String(decoding: $0.jsonBytes, as: UTF8.self) }
        return """
            INSERT INTO ai_confirmations (digest, family_id, user_id, request_digest, expires_at, of_constraint,
                                          of_fallback, record)
            SELECT \(AITokens.digest(request.token)), \(family), \(user), \(request.requestDigest), \(end),
                   \(request.isForConstraint), \(request.isForFallback), \(text)::json
            FROM ledger_stamp
            """
    }

    /// Reads the `family_id` of a confirmation, why it was requested (`of_constraint`, `of_fallback`), and its `record`,
    /// while it can be used.
    static func usableConfirmation(_ digest: [UInt8], of user: UserID, at now: Timestamp) -> SQL {
        """
        SELECT c.family_id, c.of_constraint, c.of_fallback, c.record::text AS record FROM ai_confirmations c
        WHERE c.digest = \(digest) AND c.user_id = \(user) AND c.used_at IS NULL AND c.expires_at >= \(now)
        """
    }

    /// Returns a row while the confirmation can be used for a request. An act that uses the confirmation MUST require
    /// that nothing has changed since this was read.
    static func usableConfirmation(
        _ digest: [UInt8], for requestDigest: [UInt8], of user: UserID, at now: Timestamp
    ) -> SQL {
        """
        SELECT c.family_id FROM ai_confirmations c
        WHERE c.digest = \(digest) AND c.user_id = \(user) AND c.used_at IS NULL AND c.expires_at >= \(now)
            AND c.request_digest = \(requestDigest)
        """
    }

    /// Consumes a confirmation in a statement of its own, which returns a row if the confirmation could be used.
    static func consumeNow(
        confirmation digest: [UInt8], _ requestDigest: [UInt8], of user: UserID, at now: Timestamp
    ) -> SQL {
        """
        UPDATE ai_confirmations c SET used_at = \(now)
        WHERE c.digest = \(digest) AND c.request_digest = \(requestDigest) AND c.user_id = \(user) AND c.used_at IS NULL
            AND c.expires_at >= \(now)
        RETURNING c.family_id
        """
    }

    /// Part of an act: consumes a confirmation.
    static func consume(confirmation digest: [UInt8], at now: Timestamp) -> SQL {
        "UPDATE ai_confirmations c SET used_at = \(now) FROM ledger_stamp WHERE c.digest = \(digest)"
    }
}
