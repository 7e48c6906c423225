import Contract
import Domain
import SQL

/// Every statement on sessions and their refresh tokens.
enum SessionStatements {
    // MARK: Reads

    /// Reads the session of a refresh token: the `Person`, `session_id`, whether the session `is_open`, the token's
    /// `expires_at` and `replaced_at`, and the `seq` of `chain`. No row: the token is unknown, or the account was
    /// deleted.
    static func byRefreshToken(_ hash: [UInt8], at now: Timestamp, chain: FamilyID = .outside) -> SQL {
        """
        SELECT \(columns(at: now)), t.expires_at, t.replaced_at
        FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id \(joins(chain))
        WHERE t.token_hash = \(hash)
        """
    }

    /// Returns a row if the refresh token belongs to a deleted account.
    static func deletedOwner(refreshHash hash: [UInt8]) -> SQL {
        """
        SELECT u.id FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id
        JOIN users u ON u.id = s.user_id AND u.status = 'deleted'
        WHERE t.token_hash = \(hash)
        """
    }

    /// Reads a session by its id, with the columns of `byRefreshToken` except the token's own.
    static func byID(_ id: SessionID, at now: Timestamp, chain: FamilyID = .outside) -> SQL {
        "SELECT \(columns(at: now)) FROM sessions s \(joins(chain)) WHERE s.id = \(id)"
    }

    private static func columns(at now: Timestamp) -> SQL {
        """
        \(AccountStatements.personColumns), s.id AS session_id, c.seq,
        s.revoked_at IS NULL AND s.expires_at > \(now) AS is_open
        """
    }

    private static func joins(_ chain: FamilyID) -> SQL {
        """
        JOIN users u ON u.id = s.user_id AND u.status <> 'deleted' \(AccountStatements.activeMembershipJoin)
        JOIN family_clock c ON c.family_id = \(chain)
        """
    }

    /// Reads a page of a person's open sessions, the last used first.
    static func openSessions(of user: UserID, _ page: PageRequest, at now: Timestamp) -> SQL {
        let sessions: SQL = """
            (SELECT s.*, coalesce(
                        (SELECT max(r.issued_at) FROM refresh_tokens r WHERE r.session_id = s.id), s.created_at)
                    AS last_used_at
             FROM sessions s)
            """
        return page.select(
            "s.id, s.created_at, s.expires_at, s.client, s.is_child, s.last_used_at", from: sessions, as: "s",
            where: "s.user_id = \(user) AND s.revoked_at IS NULL AND s.expires_at > \(now)",
            orderBy: "s.last_used_at DESC, s.id DESC")
    }

    /// Returns a row if the session is one of the person's and is open.
    static func openSession(_ session: SessionID, of user: UserID, at now: Timestamp) -> SQL {
        """
        SELECT id FROM sessions
        WHERE id = \(session) AND user_id = \(user) AND revoked_at IS NULL AND expires_at > \(now)
        """
    }

    /// A condition: the session is open, and stays so until the act is committed. True without a session.
    static func staysOpen(_ session: SessionID?, at now: Timestamp) -> SQL {
        guard let session else { return "true" }
        return """
            EXISTS (SELECT FROM sessions WHERE id = \(session) AND revoked_at IS NULL AND expires_at > \(now) FOR SHARE)
            """
    }

    /// A condition: the session is open. `session` is an SQL expression.
    static func isOpen(_ session: SQL, at now: Timestamp) -> SQL {
        """
        EXISTS (SELECT FROM sessions WHERE sessions.id = \(session) AND revoked_at IS NULL AND expires_at > \(now))
        """
    }

    // MARK: Housekeeping

    /// Deletes at most `count` sessions that expired more than `retention` ago, with their refresh tokens and positions
    /// in feeds.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM sessions WHERE id IN (
            SELECT id FROM sessions WHERE expires_at < \(now - retention)
            ORDER BY expires_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }

    /// The time for which a session is kept after its expiry, even if it was revoked before. The privacy policy names it.
    static let retention = Timestamp.Span.days(30)

    // MARK: Use

    /// Prolongs an administrator's session on use, at most once a minute.
    static func prolongAdminSession(_ session: SessionID, at now: Timestamp) -> SQL {
        let (idleTimeout, maxLifetime) = Sessions.administratorLifetime
        let end: SQL = "created_at + \(maxLifetime.microseconds) * interval '1 microsecond'"
        return """
            UPDATE sessions SET expires_at = least(\(now + idleTimeout), \(end))
            WHERE id = \(session) AND revoked_at IS NULL AND expires_at > \(now)
                AND expires_at < least(\(now + idleTimeout - .minutes(1)), \(end))
            """
    }

    // MARK: Statements of an act

    /// Part of an act: stores a session.
    /// - Parameters:
    ///   - isChild: whether the session begins with a child code.
    ///   - client: the `User-Agent` of the request.
    ///   - lifetime: the time until the session expires, unless it is prolonged.
    static func insert(
        _ session: SessionID, of user: UserID, isChild: Bool, client: String?, at now: Timestamp,
        for lifetime: Timestamp.Span
    ) -> SQL {
        """
        INSERT INTO sessions (id, user_id, created_at, expires_at, is_child, client)
        SELECT \(session), \(user), \(now), \(now + lifetime), \(isChild), \(client) FROM ledger_stamp
        """
    }

    static func insert(refreshHash hash: [UInt8], of session: SessionID, at now: Timestamp) -> SQL {
        """
        INSERT INTO refresh_tokens (token_hash, session_id, issued_at, expires_at)
        SELECT \(hash), \(session), \(now), \(now + Tokens.refreshLifetime) FROM ledger_stamp
        """
    }

    static func markReplaced(refreshHash hash: [UInt8], at now: Timestamp) -> SQL {
        """
        UPDATE refresh_tokens SET replaced_at = \(now) FROM ledger_stamp
        WHERE token_hash = \(hash) AND replaced_at IS NULL
        """
    }

    /// Prolongs a session, up to its maximum lifetime.
    static func prolong(
        _ session: SessionID, at now: Timestamp, for idleTimeout: Timestamp.Span, maxLifetime: Timestamp.Span
    ) -> SQL {
        """
        UPDATE sessions SET expires_at =
            least(\(now + idleTimeout), created_at + \(maxLifetime.microseconds) * interval '1 microsecond')
        FROM ledger_stamp WHERE id = \(session)
        """
    }

    /// Ends all of a person's sessions, except the named one.
    static func revokeAll(of user: UserID, except session: SessionID? = nil, at now: Timestamp) -> SQL {
        """
        UPDATE sessions SET revoked_at = \(now) FROM ledger_stamp
        WHERE user_id = \(user) AND revoked_at IS NULL AND id IS DISTINCT FROM \(session)
        """
    }

    static func revoke(_ session: SessionID, at now: Timestamp) -> SQL {
        "UPDATE sessions SET revoked_at = \(now) FROM ledger_stamp WHERE id = \(session) AND revoked_at IS NULL"
    }

    /// Ends the sessions that began with the child code of the act's family, except one person's.
    static func revokeChildSessions(besides user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE sessions SET revoked_at = \(now)
        WHERE is_child AND revoked_at IS NULL AND user_id IN (
            SELECT m.user_id FROM memberships m
            WHERE m.family_id = \(MembershipStatements.actFamily) AND m.status = 'active' AND m.user_id <> \(user))
        """
    }

    /// Ends a child's sessions that began with a child code.
    static func revokeChildSessions(of user: UserID, except session: SessionID? = nil, at now: Timestamp) -> SQL {
        """
        UPDATE sessions SET revoked_at = \(now) FROM ledger_stamp
        WHERE user_id = \(user) AND is_child AND revoked_at IS NULL AND id IS DISTINCT FROM \(session)
        """
    }
}
