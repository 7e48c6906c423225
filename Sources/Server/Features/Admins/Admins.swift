import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Administrators: accounts that read every audit log, and review abuse reports and failed notifications. Only the
/// command line makes them.
///
/// An administrator's account belongs to no family. Their sessions end after half an hour without use, and after twelve
/// hours in any case. The audit log records what they read (`RecordedRead`).
public enum Admins {
    /// An administrator as the command line lists them.
    public struct Admin: Sendable {
        public let id: UserID
        public let email: String
        public let createdAt: Timestamp
        public let revokedAt: Timestamp?
        /// The time at which the account was deleted; nil while it exists.
        public let deletedAt: Timestamp?

        /// Whether they may still read audit logs.
        public var isCurrent: Bool { revokedAt == nil && deletedAt == nil }
    }

    /// A reason for which an administrator could not be made or revoked, or a password code not be made.
    public enum Fault: Error, CustomStringConvertible {
        case emailIsTaken
        /// The administrator to revoke does not exist, or is a former one.
        case noSuchAdministrator
        /// No account with a password has the address for which a password code was requested.
        case noAccount
        /// The text is what `weakness` returned.
        case weakPassword(String)
        case notAnEmail

        public var description: String {
            switch self {
            case .emailIsTaken: "this address already has an account: use another address for the administrator"
            case .noSuchAdministrator: "no administrator has this address"
            case .noAccount: "no account with a password has this address"
            case .weakPassword(let why): "the password \(why)"
            case .notAnEmail: "the address is not an email address"
            }
        }
    }

    /// Returns the rule that an administrator's password breaks, such as `must have at least 16 characters`; nil if the
    /// password is allowed. It needs at least 16 characters, ten of them different, and no more than any password may
    /// have. It may not contain the part of the address before the @, if that has four characters or more.
    public static func weakness(of password: String, email: String) -> String? {
        if password.unicodeScalars.count < 16 { return "must have at least 16 characters" }
        let maxLength = Secret.passwordLengths.upperBound
        if password.unicodeScalars.count > maxLength { return "must have at most \(maxLength) characters" }
        if Set(password.unicodeScalars).count < 10 { return "must have at least ten different characters" }
        let name = email.prefix { $0 != "@" }.lowercased()
        if name.count >= 4, password.lowercased().contains(name) { return "must not contain the name in the address" }
        return nil
    }

    /// Makes an administrator's account with an email address and a password.
    /// - Throws: `Fault` if the address is invalid or taken, or the password is too weak.
    public static func create(
        databaseURL: String, keys: AuditKeyring, email: String, password: String,
        cost: PasswordHashing.Cost = .interactive, clock: any WallClock = SystemClock()
    ) async throws -> Admin {
        guard let address = try? EmailAddress(wireText: email).wireText else { throw Fault.notAnEmail }
        if let weakness = weakness(of: password, email: address) { throw Fault.weakPassword(weakness) }
        let pool = try PasswordHashing.startPool(queueLimitPerPurpose: 1)
        defer { pool.stop() }
        let hash = try await PasswordHashing(pool, cost: cost).hash(password, .credentials, for: address)
        return try await Schema.withDatabase(databaseURL) { database in
            let tool = AuditMaintenance(database, keys, clock: clock)
            let now = clock.now()
            let person = Person(
                id: tool.random.identifier(at: now), pseudonym: tool.random.identifier(at: now), email: address,
                displayName: "Administrator", status: .active, createdAt: now)
            let act = Act(
                kind: .adminCreated, basis: .nothing, actor: SystemActor.commandLine, subject: person.pseudonym,
                details: ["user": person.id.description], stampedRows: 0,
                statements: [
                    AccountStatements.insert(person, passwordHash: hash, dateOfBirth: nil),
                    AdminStatements.insert(person.id, at: now),
                ])
            do {
                try await database.transaction { transaction in
                    try await tool.perform(act, in: .outside, tool.context(now), transaction)
                }
            } catch let error as PostgresError where error.violates(.emailAddress) {
                throw Fault.emailIsTaken
            }
            return Admin(id: person.id, email: address, createdAt: now, revokedAt: nil, deletedAt: nil)
        }
    }

    /// Revokes an administrator's rights and ends their sessions.
    public static func revoke(
        databaseURL: String, keys: AuditKeyring, email: String, clock: any WallClock = SystemClock()
    ) async throws {
        try await Schema.withDatabase(databaseURL) { database in
            let tool = AuditMaintenance(database, keys, clock: clock)
            let now = clock.now()
            let statement = AdminStatements.activeAdministrator(email: email.lowercased())
            guard let row = try await database.query(statement).first else {
                throw Fault.noSuchAdministrator
            }
            let (user, pseudonym): (UserID, Pseudonym) = (try row["id"], try row["pseudonym"])
            let act = Act(
                kind: .adminRevoked, basis: .nothing, actor: SystemActor.commandLine, subject: pseudonym,
                changesRights: true, stampedRows: 0,
                statements: [AdminStatements.revoke(user, at: now), SessionStatements.revokeAll(of: user, at: now)])
            try await database.transaction { transaction in
                try await tool.perform(act, in: .outside, tool.context(now), transaction)
            }
        }
    }

    /// Returns all administrators, including former ones, oldest first.
    public static func listAll(databaseURL: String) async throws -> [Admin] {
        try await Schema.withDatabase(databaseURL) { database in
            try await database.query(AdminStatements.all).map { row throws(PostgresError) in
                Admin(
                    id: try row["id"], email: try row["email"] ?? "(erased)", createdAt: try row["created_at"],
                    revokedAt: try row["revoked_at"], deletedAt: try row["deleted_at"])
            }
        }
    }
}

/// Every statement on administrators.
enum AdminStatements {
    static let all: SQL = """
        SELECT a.user_id AS id, u.email, a.created_at, a.revoked_at, u.deleted_at
        FROM admins a JOIN users u ON u.id = a.user_id
        ORDER BY a.created_at, a.user_id
        """

    /// Reads the `id` and `pseudonym` of the administrator with that address. No row: there is none, or their rights
    /// were revoked, or their account was deleted.
    static func activeAdministrator(email: String) -> SQL {
        """
        SELECT u.id, u.pseudonym FROM admins a JOIN users u ON u.id = a.user_id
        WHERE u.email = \(email) AND a.revoked_at IS NULL AND u.status <> 'deleted'
        """
    }

    /// A condition: the account is an administrator's. `user` is an SQL expression.
    static func isAdministrator(_ user: SQL) -> SQL {
        "EXISTS (SELECT 1 FROM admins a WHERE a.user_id = \(user) AND a.revoked_at IS NULL)"
    }

    /// Part of the act that makes the account: makes it an administrator's.
    static func insert(_ user: UserID, at now: Timestamp) -> SQL {
        "INSERT INTO admins (user_id, created_at) SELECT \(user), \(now) FROM ledger_stamp"
    }

    /// Part of an act: revokes an administrator's rights.
    static func revoke(_ user: UserID, at now: Timestamp) -> SQL {
        "UPDATE admins SET revoked_at = \(now) FROM ledger_stamp WHERE user_id = \(user) AND revoked_at IS NULL"
    }
}
