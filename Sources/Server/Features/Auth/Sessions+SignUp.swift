import Audit
import Contract
import Domain
import Postgres

extension Sessions {
    /// Makes an account and its first session. An address that has an account already is refused with 409.
    ///
    /// The account of somebody under 13 waits for a guardian: its session only lets the client show that it waits, and
    /// join a family. The account becomes active when the person joins, by invite code, a family whose guardians
    /// consent to children's accounts.
    package func signUp(_ context: CallContext, _ call: Call<NoParameters, SignupRequest>) async throws -> AuthResponse
    {
        try await signUp(context, call, id: services.random.identifier(at: context.now))
    }

    /// Makes an account with a given id, and its first session.
    /// - Parameter id: the id of the account; only seeds choose it.
    package func signUp(_ context: CallContext, _ call: Call<NoParameters, SignupRequest>, id: UserID) async throws
        -> AuthResponse
    {
        let (now, body) = (context.now, call.body)
        let email = body.email.wireText
        let dateOfBirth = try body.dateOfBirth?.pastDate(at: now)
        guard try await services.database.query(AccountStatements.idByEmail(email)).isEmpty else {
            throw APIError.emailIsTaken
        }
        let hash = try await services.hashing.hash(body.password.wireText, .signUp, for: context.remote)

        let today = UniversalTime().local(now).date
        let isUnder13 = dateOfBirth?.isUnder13(on: today) ?? false
        let person = Person(
            id: id, pseudonym: services.random.identifier(at: now), email: email, displayName: body.displayName,
            status: isUnder13 ? .pendingGuardianConsent : .active, createdAt: now)
        let newSession = makeSession(for: person, on: nil, context)
        let act = Act(
            kind: .accountCreated, basis: .nothing, actor: person.pseudonym, subject: person.pseudonym,
            resource: newSession.id.retyped(), details: ["status": person.status, "user": person.id.description],
            stampedRows: 0,
            statements: [AccountStatements.insert(person, passwordHash: hash, dateOfBirth: dateOfBirth)]
                + newSession.statements + knownAddressStatements(of: person.id, email, context))
        do {
            return try await services.ledger.write(context, in: .outside) { _ in .perform(act, newSession.answer) }
        } catch let error as PostgresError where error.violates(.emailAddress) {
            throw APIError.emailIsTaken
        }
    }
}
