import Contract
import Domain
import NagzAI
import SQL

/// The statements on the turns of AI sessions. Deleting a session deletes its turns. `digest` is that of the session's
/// token.
extension ExecutionStatements {
    /// Reads the turns of a session that has not expired, newest first.
    static func turns(of digest: [UInt8], _ user: UserID, at now: Timestamp) -> SQL {
        """
        SELECT t.master, t.sealed FROM ai_sessions s JOIN ai_session_turns t ON t.digest = s.digest
        WHERE s.digest = \(digest) AND s.user_id = \(user) AND s.used_at > \(now - AITokens.sessionIdleLifetime)
        ORDER BY t.created_at DESC, t.id DESC LIMIT \(SessionTurn.maxTurnsPerSession)
        """
    }

    /// Part of an act: stores a turn, which is sealed under the master key with the ID `masterID`.
    static func addTurn(
        _ sealed: [UInt8], _ masterID: [UInt8], of execution: ExecutionID, to digest: [UInt8], at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO ai_session_turns (digest, family_id, created_at, id, master, sealed)
        SELECT s.digest, s.family_id, \(now), \(execution), \(masterID), \(sealed)
        FROM ai_sessions s CROSS JOIN ledger_stamp WHERE s.digest = \(digest)
        """
    }

    /// Part of an act: deletes all but the newest turns.
    static func deleteOldTurns(of digest: [UInt8], keeping count: Int) -> SQL {
        """
        DELETE FROM ai_session_turns t USING ledger_stamp WHERE t.digest = \(digest) AND t.id NOT IN (
            SELECT k.id FROM ai_session_turns k WHERE k.digest = \(digest)
            ORDER BY k.created_at DESC, k.id DESC LIMIT \(count))
        """
    }
}
