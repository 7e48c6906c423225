import Contract
import Domain
import Server

/// A person of the demo family, with their sign-in and their session.
final class DemoPerson {
    let name: String
    let role: FamilyRole
    /// The email address; nil for a person who signs in with the family's child code.
    let email: String?
    /// The password; the PIN for a person without an email address.
    fileprivate(set) var secret: String
    fileprivate(set) var id = UserID(high: 0, low: 0)
    /// The tokens of the session, and the time at which they were issued; nil while the person is signed out.
    fileprivate var session: (access: String, refresh: Secret, since: Timestamp)?

    init(_ name: String, _ role: FamilyRole, email: String?, secret: String) {
        self.name = name
        self.role = role
        self.email = email
        self.secret = secret
    }
}

/// The demo family: two guardians, a grandfather, two children, and an aunt who does not stay.
struct DemoHousehold {
    let nora: DemoPerson
    let daniel: DemoPerson
    let walter: DemoPerson
    /// The older child: 12, with an account of her own.
    let maya: DemoPerson
    /// The younger child: 9, signs in with the family's code, a username and a PIN.
    let leo: DemoPerson
    let iris: DemoPerson

    static let childUsername = "leo"

    /// Creates the people with new secrets, different in every installation.
    init(_ random: any Randomness) {
        func personWithEmail(_ name: String, _ role: FamilyRole) -> DemoPerson {
            let letters = Array(random.code(16))
            let groups = stride(from: 0, to: 16, by: 4).map { String(letters[$0..<($0 + 4)]) }
            return DemoPerson(
                name, role, email: "\(name.lowercased())@example.com", secret: groups.joined(separator: "-"))
        }
        nora = personWithEmail("Nora", .guardian)
        daniel = personWithEmail("Daniel", .guardian)
        walter = personWithEmail("Walter", .participant)
        maya = personWithEmail("Maya", .child)
        iris = personWithEmail("Iris", .participant)
        leo = DemoPerson("Leo", .child, email: nil, secret: Self.makePIN(random))
    }

    /// Returns a random PIN of four digits.
    static func makePIN(_ random: any Randomness) -> String {
        var digits = ""
        // 250 is the last whole multiple of ten in a byte: every digit is equally likely.
        while digits.count < 4 { digits += random.bytes(1).filter { $0 < 250 }.map { String($0 % 10) }.joined() }
        return digits
    }

    /// The people who are members at the end of the demo.
    var finalMembers: [DemoPerson] { [nora, daniel, walter, maya, leo] }
}

extension DemoStage {
    // MARK: Sessions

    /// Returns the person as a caller, with an access token of their session, which is renewed when it has expired.
    func caller(_ person: DemoPerson, at now: Timestamp) async throws -> Caller {
        if let session = person.session, now >= session.since + Tokens.accessLifetime {
            let response = try await sessions.refresh(
                context(now), Call(NoParameters(), RefreshRequest(refreshToken: session.refresh)))
            beginSession(person, response, at: now)
        }
        return try services.verifiedTokens.caller(person.session?.access, context(now))
    }

    /// Signs up a person who has an email address. For a person without one it does nothing.
    func signUp(_ person: DemoPerson, bornOn birthday: CivilDate? = nil, at now: Timestamp) async throws {
        guard let email = person.email else { return }
        let request = SignupRequest(
            email: try EmailAddress(wireText: email), password: Secret(person.secret), displayName: person.name,
            dateOfBirth: birthday.map { DateOfBirth($0) })
        beginSession(person, try await sessions.signUp(context(now), Call(NoParameters(), request)), at: now)
    }

    /// Signs a person in.
    /// - Parameter secret: the password or PIN to try; nil for the person's own.
    func signIn(_ person: DemoPerson, secret: String? = nil, at now: Timestamp) async throws {
        let secret = secret ?? person.secret
        if let email = person.email {
            let request = LoginRequest(email: try EmailAddress(wireText: email), password: Secret(secret))
            beginSession(person, try await sessions.logIn(context(now), Call(NoParameters(), request)), at: now)
        } else {
            let request = ChildLoginRequest(
                familyCode: childCode, username: DemoHousehold.childUsername, pin: try PIN(wireText: secret))
            beginSession(person, try await sessions.childLogIn(context(now), Call(NoParameters(), request)), at: now)
        }
    }

    /// Ends the person's session, because nobody has its tokens after the demo.
    func signOut(_ person: DemoPerson, at now: Timestamp) async throws {
        guard let session = person.session else { return }
        _ = try await sessions.logOut(
            nil, context(now), Call(NoParameters(), RefreshRequest(refreshToken: session.refresh)))
        person.session = nil
    }

    private func beginSession(_ person: DemoPerson, _ response: AuthResponse, at now: Timestamp) {
        person.id = response.user.id
        person.session = (response.accessToken.wireText, response.refreshToken, now)
    }

    // MARK: The family

    /// Creates the family with its members, and consents to children's accounts, points and AI help.
    func createFamilyAndMembers(at start: Timestamp) async throws {
        let (nora, daniel, walter, maya, leo) = (people.nora, people.daniel, people.walter, people.maya, people.leo)
        try await signUp(nora, at: start)
        let createdFamily = try await families.create(
            caller(nora, at: start), Call(NoParameters(), FamilyCreate(name: "The Marlowes")))
        family = createdFamily.id
        childCode = createdFamily.childCode ?? ""
        for type in [ConsentType.childAccountCreation, .aiMediation, .gamificationParticipation] {
            _ = try await grant(type, by: nora, at: start + .minutes(2))
        }
        inviteCode = createdFamily.inviteCode
        try await signUp(daniel, at: start + .minutes(10))
        try await join(daniel, at: start + .minutes(11))
        _ = try await families.addMember(
            caller(nora, at: start + .minutes(12)),
            Call(
                FamilyPath(familyID: family), MemberAdd(userID: daniel.id, role: .guardian)))
        try await signUp(walter, at: start + .minutes(30))
        try await join(walter, at: start + .minutes(31))

        let thisYear = zone.local(start).date.year
        try await signUp(maya, bornOn: CivilDate(year: thisYear - 12, month: 1, day: 9), at: start + .minutes(40))
        try await join(maya, at: start + .minutes(42))
        let request = MemberCreateAndAdd(
            displayName: leo.name, role: .child, username: DemoHousehold.childUsername,
            pin: try PIN(wireText: leo.secret))
        _ = try await families.createMember(
            caller(nora, at: start + .minutes(45)),
            Call(FamilyPath(familyID: family), request))
        try await signIn(leo, at: start + .minutes(50))
    }

    /// Lets a person join the family with its invite code.
    func join(_ person: DemoPerson, at now: Timestamp) async throws {
        _ = try await families.join(
            caller(person, at: now), Call(NoParameters(), JoinRequest(inviteCode: inviteCode)))
    }

    /// Lets a guardian remove a person, after which the family has new codes.
    func remove(_ person: DemoPerson, at now: Timestamp) async throws {
        let guardian = try await caller(people.nora, at: now)
        _ = try await families.removeMember(
            guardian, Call(MemberPath(familyID: family, userID: person.id), NoBody()))
        let renewedFamily = try await families.get(
            guardian, Call(FamilyPath(familyID: family), NoBody()))
        inviteCode = renewedFamily.inviteCode
        childCode = renewedFamily.childCode ?? ""
    }

    /// Lets a person grant a consent: for themselves if it is to SMS, otherwise for the family.
    @discardableResult
    func grant(_ type: ConsentType, by person: DemoPerson, at now: Timestamp) async throws -> ConsentID {
        let request = ConsentCreate(familyID: type == .smsOptIn ? nil : family, type: type)
        return try await consents.grant(caller(person, at: now), Call(NoParameters(), request)).id
    }

    /// Lets a guardian set another PIN for the child. A sign-in with a wrong PIN is refused, then the child signs in
    /// with the new one.
    func changePINAndSignIn(of child: DemoPerson, at now: Timestamp) async throws {
        child.secret = DemoHousehold.makePIN(services.random)
        let request = ChildCredentialsSet(username: DemoHousehold.childUsername, pin: try PIN(wireText: child.secret))
        _ = try await families.setCredentials(
            caller(people.nora, at: now),
            Call(MemberPath(familyID: family, userID: child.id), request))
        let wrongPIN = child.secret == "0000" ? "1111" : "0000"
        try await requireRefusal { try await signIn(child, secret: wrongPIN, at: now + .minutes(5)) }
        try await signIn(child, at: now + .minutes(6))
    }
}
