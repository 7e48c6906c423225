import Audit
import Domain
import Postgres
import SQL

/// Erases a person from the audit log: deletes the bodies about them, the key that sealed these, and the link from
/// their pseudonym to the account. The entries stay, and each of their chains gets one about the erasure. All of it is
/// one transaction.
public struct Erasure: Sendable {
    /// The extent of an erasure.
    public struct Extent: Sendable, Hashable {
        /// The chains that name the person, and the number of bodies about the person in each.
        public let chains: [(family: FamilyID, bodyCount: Int)]
        /// The number of bodies about the person in all chains.
        public var bodyCount: Int { chains.reduce(0) { $0 + $1.bodyCount } }

        public static func == (left: Self, right: Self) -> Bool {
            left.chains.elementsEqual(right.chains) { $0 == $1 }
        }
        public func hash(into hasher: inout Hasher) { hasher.combine(bodyCount) }
    }

    /// A reason for which the person was not erased.
    public enum Fault: Error, CustomStringConvertible {
        /// No account has the ID, or its person was erased before.
        case unknownPerson
        case member(of: FamilyID)
        /// The person has connections, or invitations to a connection that are still open.
        case connected

        public var description: String {
            switch self {
            case .unknownPerson: "no account has this ID, or the person was already erased"
            case .connected: "the person has connections or open invitations: delete the account first"
            case .member(let family): "the person is a member of family \(family): remove them there first"
            }
        }
    }

    private let user: UserID

    public init(of user: UserID) { self.user = user }

    /// - Parameter isDryRun: only reads.
    public func run(
        databaseURL: String, keys: AuditKeyring, isDryRun: Bool, clock: any WallClock = SystemClock()
    ) async throws -> Extent {
        let (user, clock) = (user, clock)
        return try await Schema.withDatabase(databaseURL) { database in
            let tool = AuditMaintenance(database, keys, clock: clock)
            return try await database.transaction { transaction in
                let person = try await Self.erasablePseudonym(of: user, transaction)
                let extent = try await Self.readExtent(of: person, transaction)
                if !isDryRun { try await erase(user, person, extent, tool, transaction) }
                return extent
            }
        }
    }

    /// Returns the pseudonym of a person who may be erased.
    /// - Throws: `Fault` if the person is unknown, a member of a family, or connected.
    private static func erasablePseudonym(of user: UserID, _ transaction: Transaction) async throws -> Pseudonym {
        guard let row = try await transaction.query(ErasureStatements.person(user)).first,
            let person: Pseudonym = try row["pseudonym"]
        else { throw Fault.unknownPerson }
        if let family: FamilyID = try row["family_id"] { throw Fault.member(of: family) }
        guard
            try await transaction.query(
                ConnectionStatements.pendingOrActive(of: user, address: try row["email"], limit: 1)
            ).isEmpty
        else { throw Fault.connected }
        return person
    }

    private static func readExtent(of person: Pseudonym, _ transaction: Transaction) async throws -> Extent {
        let rows = try await transaction.query(ErasureStatements.chains(of: person))
        return Extent(
            chains: try rows.map { row throws(PostgresError) in (try row["family_id"], try row["bodies"]) })
    }

    private func erase(
        _ user: UserID, _ person: Pseudonym, _ extent: Extent, _ tool: AuditMaintenance, _ transaction: Transaction
    ) async throws {
        let now = tool.clock.now()
        // The chains are locked in the order of their IDs, as in every transaction that locks several. The chain
        // outside families is the first.
        var chains = extent.chains
        if !chains.contains(where: { $0.family == .outside }) { chains.insert((.outside, 0), at: 0) }
        for chain in chains.sorted(by: { $0.family < $1.family }) {
            var act = Act(
                kind: .personErased, basis: .nothing, actor: SystemActor.commandLine, subject: person,
                sealingSubject: SystemActor.commandLine, details: ["bodies": String(chain.bodyCount)],
                changesRights: true,
                stampedRows: 0, statements: [ErasureStatements.deleteBodies(of: person)])
            if chain.family == .outside {
                act.statements += [
                    AccountStatements.erase(user, at: now), SessionStatements.revokeAll(of: user, at: now),
                    PhoneCodeStatements.delete(of: user), ErasureStatements.destroyKey(of: person),
                ]
            }
            try await tool.perform(act, in: chain.family, tool.context(now), transaction)
        }
    }
}

/// Every statement that erases a person from the audit log.
enum ErasureStatements {
    /// Reads the pseudonym and email address of an account, with the families in which the person is an active member.
    static func person(_ user: UserID) -> SQL {
        """
        SELECT u.pseudonym, u.email, m.family_id FROM users u
        LEFT JOIN memberships m ON m.user_id = u.id AND m.status = 'active' WHERE u.id = \(user)
        """
    }

    /// Reads the chains that name the person, and the number of bodies in each that were sealed with the person's key.
    static func chains(of person: Pseudonym) -> SQL {
        """
        SELECT c.family_id, (SELECT count(*) FROM audit_payload p WHERE p.family_id = c.family_id AND p.key_id = \(person))
                   AS bodies
        FROM (SELECT DISTINCT family_id FROM audit_entry WHERE actor = \(person) OR subject = \(person)) c
        ORDER BY c.family_id
        """
    }

    /// Returns a part of an act, which deletes the bodies in the act's chain that were sealed with the person's key,
    /// and their salts.
    static func deleteBodies(of person: Pseudonym) -> SQL {
        "DELETE FROM audit_payload p USING ledger_stamp WHERE p.family_id = ledger_stamp.family_id AND p.key_id = \(person)"
    }

    /// Returns a part of an act, which deletes the person's key.
    static func destroyKey(of person: Pseudonym) -> SQL {
        "DELETE FROM audit_subject_key k USING ledger_stamp WHERE k.id = \(person)"
    }
}
