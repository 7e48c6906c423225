import Domain
import SQL

extension SyncStatements {
    // Rows of acts after which somebody may see more than before: what a session was handed is forgotten, so that its next
    // `since` is answered with everything.

    /// For one person.
    static func forget(sessionsOf user: UserID) -> SQL {
        """
        DELETE FROM sync_grants USING tick, sessions
        WHERE sync_grants.family_id = tick.family_id AND sync_grants.session_id = sessions.id
            AND sessions.user_id = \(user)
        """
    }

    /// For everybody in the family.
    static func forgetAll() -> SQL { "DELETE FROM sync_grants USING tick WHERE sync_grants.family_id = tick.family_id" }
}
