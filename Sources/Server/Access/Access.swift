import Contract
import Domain
import Postgres
import SQL

/// Authorises callers: reads session, account and membership in one statement, as of one moment.
struct Access {
    /// Returns the caller's account, whether or not they belong to a family. It prolongs an administrator's session.
    /// - Parameter acceptsWaiting: whether an account that waits for a guardian is accepted too.
    /// - Throws: 401 when the session has ended or the account is deleted; 403 while the account waits for a guardian,
    ///   unless that is accepted.
    func account(_ caller: Caller, acceptsWaiting: Bool = false, _ queries: any Queries) async throws -> Account {
        let rows = try await queries.query(
            """
            SELECT u.id, u.status, u.pseudonym, u.display_name, u.email, m.family_id, m.role,
                   u.status <> 'deleted' AND \(AdminStatements.isAdministrator("u.id")) AS is_admin
            FROM users u LEFT JOIN memberships m ON m.user_id = u.id AND m.status = 'active'
            WHERE u.id = \(caller.userID) AND \(caller.sessionCheck)
            """)
        guard let row = rows.first else { throw APIError.sessionHasEnded }
        let status: String = try row["status"]
        if !(acceptsWaiting && status == AccountStatus.pendingGuardianConsent.rawValue) {
            try Access.requireActive(status: status)
        }
        let account = try Account(row)
        if account.isAdmin, let session = caller.sessionID {
            _ = try await queries.query(SessionStatements.prolongAdminSession(session, at: caller.now))
        }
        return account
    }

    /// Requires that the caller is an administrator. It does not prolong the session.
    /// - Throws: 401 when the session has ended or the caller is no longer an administrator.
    func requireAdministrator(_ caller: Caller, _ queries: any Queries) async throws {
        let rows = try await queries.query(
            """
            SELECT u.id FROM users u JOIN admins a ON a.user_id = u.id AND a.revoked_at IS NULL
            WHERE u.id = \(caller.userID) AND u.status = 'active' AND \(caller.sessionCheck)
            """)
        guard rows.first != nil else { throw APIError.sessionHasEnded }
    }

    /// Returns the caller as a member of a family.
    /// - Throws: 401 when the session has ended; 403 while the account waits for a guardian, and for somebody who is
    ///   not a member.
    func member(_ caller: Caller, of family: FamilyID, _ queries: any Queries) async throws -> Member {
        let rows = try await queries.query(
            """
            SELECT u.status, u.pseudonym, u.display_name, m.role, f.name, f.time_zone,
                   f.time_zone_changed_at, c.seq
            FROM users u
            LEFT JOIN memberships m ON m.user_id = u.id AND m.family_id = \(family) AND m.status = 'active'
            LEFT JOIN families f ON f.id = m.family_id
            LEFT JOIN family_clock c ON c.family_id = m.family_id
            WHERE u.id = \(caller.userID) AND \(caller.sessionCheck)
            """)
        guard let row = rows.first else { throw APIError.sessionHasEnded }
        try Access.requireActive(status: try row["status"])
        guard let role: FamilyRole = try row["role"] else {
            throw APIError(.authorizationDenied, .notAMember)
        }
        return try Member(caller, family, role, row)
    }

    /// Returns the caller as a member of their own active family, for operations that name no family.
    /// - Throws: `refusal`, a 404, when the caller has no family, so that other families' data stays unknown; 401 and
    ///   403 as for a named family.
    func member(_ caller: Caller, orThrow refusal: APIError, _ queries: any Queries) async throws -> Member {
        let account = try await account(caller, queries)
        guard let family = account.family else { throw refusal }
        return try await member(caller, of: family, queries)
    }

    static func requireActive(status: String) throws(APIError) {
        switch status {
        case "active": return
        case "pending_guardian_consent":
            throw APIError.accountIsPending
        default: throw APIError.sessionHasEnded
        }
    }
}

extension Caller {
    /// The condition that the caller's session is still open, for statements that check it along with their own reads:
    /// `… WHERE u.id = \(caller.userID) AND \(caller.sessionCheck)`.
    var sessionCheck: SQL {
        switch session {
        case .development: "true"
        case .signedIn(let session):
            """
            EXISTS (SELECT 1 FROM sessions s WHERE s.id = \(session) AND s.user_id = u.id
                    AND s.revoked_at IS NULL AND s.expires_at > \(now))
            """
        }
    }
}

/// An account with an open session.
struct Account {
    let id: UserID
    let pseudonym: Pseudonym
    let displayName: String?
    let email: String?
    let family: FamilyID?
    let role: FamilyRole?
    /// Whether the account is an administrator's. Administrators are appointed on the command line. They may read every
    /// family's audit log and review abuse reports.
    let isAdmin: Bool
    /// Whether the person is under 13 and waits for a guardian to add them to a family.
    let isWaiting: Bool

    fileprivate init(_ row: Row) throws(PostgresError) {
        id = try row["id"]
        pseudonym = try row["pseudonym"]
        displayName = try row["display_name"]
        email = try row["email"]
        family = try row["family_id"]
        role = try row["role"]
        isAdmin = try row["is_admin"]
        isWaiting = try row["status"] == AccountStatus.pendingGuardianConsent.rawValue
    }
}

/// The caller as a member of their family, as of one moment. Only `Access` can make one.
package struct Member {
    let userID: UserID
    let familyID: FamilyID
    let role: FamilyRole
    let pseudonym: Pseudonym
    let displayName: String?
    let familyName: String
    let familyZone: String
    /// The time of the last change of the family's zone; nil for never.
    let familyZoneChangedAt: Timestamp?
    /// The family's sequence number when the member was read: the basis of decisions about what is read from then on.
    let seq: Int64

    fileprivate init(_ caller: Caller, _ family: FamilyID, _ role: FamilyRole, _ row: Row) throws(PostgresError) {
        userID = caller.userID
        familyID = family
        self.role = role
        pseudonym = try row["pseudonym"]
        displayName = try row["display_name"]
        familyName = try row["name"]
        familyZone = try row["time_zone"]
        familyZoneChangedAt = try row["time_zone_changed_at"]
        seq = try row["seq"]
    }
}
