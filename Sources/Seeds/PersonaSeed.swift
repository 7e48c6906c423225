import Audit
import Contract
import Domain
import DomainSQL
import JSON
import Postgres
import Reactor
import SQL
import Server

/// The five people of the mobile client's development build, which has a sign-in button for each. They have fixed IDs,
/// and use development tokens (`Bearer dev:<user-uuid>`, `nagz serve --dev-tokens`).
///
/// The seed is one transaction: if the process dies before the commit, nothing is left.
public enum PersonaSeed {
    public static let family = FamilyID(high: 0x9380_3dda_64e6_491c, low: 0xb460_02ab_3b72_c465)

    /// One of the five people.
    public struct Persona: Sendable {
        public let name: String
        public let role: FamilyRole
        public let id: UserID

        fileprivate init(_ name: String, _ role: FamilyRole, digit: UInt64) {
            self.name = name
            self.role = role
            let half = digit &* 0x1111_1111_1111_1111
            id = UserID(high: half, low: half)
        }
    }

    private static let andrew = Persona("Andrew", .guardian, digit: 0xa)
    private static let katherine = Persona("Katherine", .guardian, digit: 0xb)
    private static let children = [
        Persona("George", .child, digit: 0xc), Persona("Teddy", .child, digit: 0xd),
        Persona("Will", .child, digit: 0xe),
    ]
    public static var all: [Persona] { [andrew, katherine] + children }

    /// - Parameters:
    ///   - databaseURL: the URL of the database, as the owner of the schema.
    ///   - auditKeyring: the keys that seal the audit log's bodies about people; nil leaves them unsealed.
    /// - Returns: true if the personas were created, false if they existed.
    /// - Throws: `SeedFault.realData` if the database has data other than administrators and the data of
    ///   `nagz seed demo`.
    @discardableResult
    public static func run(
        databaseURL: String, auditKeyring: AuditKeyring? = nil, clock: any WallClock = SystemClock(),
        cost: PasswordHashing.Cost = .interactive
    ) async throws -> Bool {
        let wereCreated = Locked(false)
        try await FeatureTransaction.run(databaseURL: databaseURL, auditKeyring: auditKeyring, clock: clock, cost: cost)
        {
            services in
            let state = try await services.database.query(Self.stateQuery).onlyRow()
            if try state["is_seeded"] { return }
            guard try state["holds_seeds_only"] else { throw SeedFault.realData }
            try await createPersonas(services)
            wereCreated.withLock { $0 = true }
        }
        return wereCreated.withLock { $0 }
    }

    /// Reads whether the personas exist, and whether the database has no data other than administrators and the data of
    /// `nagz seed demo`.
    private static let stateQuery: SQL = """
        SELECT EXISTS (SELECT 1 FROM families WHERE id = \(family)) AS is_seeded,
               NOT EXISTS (
                   SELECT 1 FROM families f WHERE NOT EXISTS (
                       SELECT 1 FROM audit_entry e WHERE e.family_id = f.id AND e.kind = 'demo.seeded'))
               AND NOT EXISTS (
                   SELECT 1 FROM users u
                   WHERE NOT EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = u.id)
                       AND NOT EXISTS (SELECT 1 FROM admins a WHERE a.user_id = u.id)) AS holds_seeds_only
        """

    // MARK: Creation

    /// Creates the personas through the server's own features, in the order in which people would do it.
    private static func createPersonas(_ services: Services) async throws {
        let (sessions, families) = (Sessions(services), Families(services))
        let (consents, preferences) = (Consents(services), MemberPreferences(services))
        for guardian in [andrew, katherine] { try await signUp(guardian, sessions, services) }

        let creator = try caller(andrew, services)
        let createdFamily = try await families.create(
            creator, Call(NoParameters(), FamilyCreate(name: "The Personas")), id: family)
        for type in [ConsentType.childAccountCreation, .aiMediation, .gamificationParticipation] {
            let consent = ConsentCreate(familyID: family, type: type)
            _ = try await consents.grant(creator, Call(NoParameters(), consent))
        }
        let joiner = try caller(katherine, services)
        _ = try await families.join(
            joiner, Call(NoParameters(), JoinRequest(inviteCode: createdFamily.inviteCode)))
        _ = try await families.addMember(
            creator,
            Call(FamilyPath(familyID: family), MemberAdd(userID: katherine.id, role: .guardian)))
        for child in children {
            _ = try await families.createMember(
                creator,
                Call(
                    FamilyPath(familyID: family), MemberCreateAndAdd(displayName: child.name, role: .child)),
                id: child.id)
        }
        for persona in all {
            let person = try caller(persona, services)
            let update = PreferenceUpdate(preferences: [PreferenceKey.gamificationEnabled.rawValue: true])
            _ = try await preferences.update(person, Call(FamilyQuery(familyID: family), update))
        }
    }

    /// Signs a persona up with a random password that is not shown, and ends the session, because development tokens
    /// need neither.
    private static func signUp(_ persona: Persona, _ sessions: Sessions, _ services: Services) async throws {
        let request = SignupRequest(
            email: try EmailAddress(wireText: "\(persona.name.lowercased())@personas.example.com"),
            password: Secret(base64URL(services.random.bytes(24))), displayName: persona.name)
        let response = try await sessions.signUp(context(services), Call(NoParameters(), request), id: persona.id)
        _ = try await sessions.logOut(
            nil, context(services), Call(NoParameters(), RefreshRequest(refreshToken: response.refreshToken)))
    }

    private static func caller(_ persona: Persona, _ services: Services) throws -> Caller {
        try services.verifiedTokens.caller("dev:\(persona.id)", context(services))
    }

    private static func context(_ services: Services) -> CallContext {
        CallContext(systemActAt: services.clock.now(), services.random)
    }
}
