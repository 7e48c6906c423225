import Contract
import Domain
import Postgres

/// An account and its active membership, as sign-in reads them.
struct Person {
    let id: UserID
    let pseudonym: Pseudonym
    /// The email address that the person signs in with; nil for an account that was made in a family.
    var email: String?
    let displayName: String?
    /// The raw value of an `AccountStatus`.
    let status: String
    let createdAt: Timestamp
    let membership: FamilyMembership?
    /// Whether the person is an administrator, whose sessions are short.
    let isAdmin: Bool

    /// Creates a person who is about to get an account.
    init(
        id: UserID, pseudonym: Pseudonym, email: String?, displayName: String?, status: AccountStatus,
        createdAt: Timestamp
    ) {
        self.id = id
        self.pseudonym = pseudonym
        self.email = email
        self.displayName = displayName
        self.status = status.rawValue
        self.createdAt = createdAt
        membership = nil
        isAdmin = false
    }

    /// Reads the columns of `AccountStatements.personColumns`.
    init(_ row: Row) throws(PostgresError) {
        id = try row["id"]
        pseudonym = try row["pseudonym"]
        email = try row["email"]
        displayName = try row["display_name"]
        status = try row["status"]
        createdAt = try row["created_at"]
        isAdmin = try row["is_admin"]
        if let family: FamilyID = try row["family_id"], let role: FamilyRole = try row["role"] {
            membership = FamilyMembership(familyID: family, role: role)
        } else {
            membership = nil
        }
    }

    /// The chain of the audit log that records the person's sessions.
    var chain: FamilyID { membership?.familyID ?? .outside }

    /// The account as the response to a sign-in contains it.
    var authUser: AuthUser {
        AuthUser(
            id: id, email: email, displayName: displayName, status: status, createdAt: createdAt,
            familyMemberships: membership.map { [$0] } ?? [])
    }
}

extension AccountResponse {
    init(_ person: Person) {
        self.init(
            id: person.id, email: person.email, displayName: person.displayName, status: person.status,
            createdAt: person.createdAt)
    }
}

/// The state of an account, which decides whether it may be used.
enum AccountStatus: String {
    case active
    /// The account of somebody under 13, who may only sign in and join a family until they are in one.
    case pendingGuardianConsent = "pending_guardian_consent"
    case deleted
}
