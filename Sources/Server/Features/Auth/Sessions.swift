import Contract
import Domain
import SQL

/// Sign-up, and the start, renewal and end of sessions.
///
/// A session is a row. Access tokens name it and each request checks it, so that revoking the row ends the session at
/// once. The audit log records sign-ups, sign-ins, refreshes and revocations, in the chain of the person's family or in
/// the one outside families. It does not record that a session has expired.
package final class Sessions {
    let services: Services

    package init(_ services: Services) { self.services = services }

    /// Registers operations of the tag `auth`.
    func register(in routes: RouteTable) {
        routes.open(API.signUp, signUp)
        routes.open(API.logIn, logIn)
        routes.open(API.childLogIn, childLogIn)
        routes.open(API.refreshSession, refresh)
        routes.endingSession(API.logOut, logOut)
        routes.signedIn(API.listSessions, list)
        routes.signedIn(API.endSession, endOne)
        routes.signedIn(API.endOtherSessions, endOthers)
    }

    /// Returns the time after which an unused session ends, and a session's maximum lifetime.
    static func lifetime(of person: Person) -> (idleTimeout: Timestamp.Span, maxLifetime: Timestamp.Span) {
        person.isAdmin ? administratorLifetime : (Tokens.refreshLifetime, .days(36_500))
    }

    /// The lifetime of an administrator's session. Its use prolongs the session (`prolongAdminSession`), as a refresh
    /// does.
    static let administratorLifetime: (idleTimeout: Timestamp.Span, maxLifetime: Timestamp.Span) = (
        .minutes(30), .hours(12)
    )

    /// A session that is about to begin: the statements that create it, and the response.
    struct NewSession {
        let id: SessionID
        var statements: [SQL]
        var answer: AuthResponse
    }

    /// Makes a session that begins with a password. The device keeps the secret that it has sent, or gets a new
    /// one.
    func makeSession(for person: Person, on deviceSecret: Secret?, _ context: CallContext) -> NewSession {
        var newSession = makeSession(for: person, isChild: false, context)
        let secret = deviceSecret ?? DeviceSecrets.make(services.random)
        let hash = DeviceSecrets.hash(secret)
        newSession.answer.deviceSecret = secret
        newSession.statements +=
            deviceSecret == nil
            ? DeviceSecretStatements.insert(hash, of: person.id, in: newSession.id, at: context.now)
            : [DeviceSecretStatements.markUsed(hash, of: person.id, in: newSession.id, at: context.now)]
        return newSession
    }

    /// Makes a session without a device secret.
    /// - Parameter isChild: whether the session begins with a child code.
    func makeSession(for person: Person, isChild: Bool, _ context: CallContext) -> NewSession {
        let now = context.now
        let session: SessionID = services.random.identifier(at: now)
        let token = Tokens.makeRefreshToken(services.random)
        return NewSession(
            id: session,
            statements: [
                SessionStatements.insert(
                    session, of: person.id, isChild: isChild, client: context.userAgent, at: now,
                    for: Self.lifetime(of: person).idleTimeout),
                SessionStatements.insert(refreshHash: Tokens.refreshHash(token), of: session, at: now),
            ],
            answer: response(for: person, session, refreshToken: token, issuedAt: now))
    }

    /// Returns the response to a sign-up, sign-in or refresh. The same arguments give the same response.
    func response(
        for person: Person, _ session: SessionID, refreshToken: String, issuedAt: Timestamp
    ) -> AuthResponse {
        let claims = Tokens.Claims(user: person.id, session: session)
        return AuthResponse(
            accessToken: Secret(services.tokens.accessToken(claims, at: issuedAt)), refreshToken: Secret(refreshToken),
            expiresIn: Int(Tokens.accessLifetime.microseconds / 1_000_000), user: person.authUser,
            familyID: person.membership?.familyID, familyRole: person.membership?.role)
    }
}
