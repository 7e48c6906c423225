import Contract
import Domain
import SQL

/// Accounts are opened, and sessions begin, go on and end.
///
/// A session is a row; access tokens name it and each request looks at it, so that ending it ends them at once. Every
/// beginning, renewal and end is an act in the audit log: in the person's family, or outside where they have none.
final class Sessions {
    let services: Services

    init(_ services: Services) { self.services = services }

    /// How long a session lasts without being used, and at all.
    static func lifetime(of person: Person) -> (unused: Timestamp.Span, longest: Timestamp.Span) {
        person.isAdmin ? administratorLifetime : (Tokens.refreshLifetime, .days(36_500))
    }

    /// Each use prolongs an administrator's session, as refreshing does.
    static let administratorLifetime: (unused: Timestamp.Span, longest: Timestamp.Span) = (.minutes(30), .hours(12))

    /// A session that is about to begin: the statements that make it, and its answer.
    struct Opening {
        let id: SessionID
        let statements: [SQL]
        let answer: AuthResponse
    }

    func opening(for person: Person, isChild: Bool = false, at now: Timestamp) -> Opening {
        let session: SessionID = services.random.identifier(at: now)
        let token = Tokens.refreshToken(services.random)
        return Opening(
            id: session,
            statements: [
                SessionStatements.open(
                    session, of: person.id, isChild: isChild, at: now, for: Self.lifetime(of: person).unused),
                SessionStatements.keep(refreshHash: Tokens.refreshHash(token), of: session, at: now),
            ],
            answer: answer(for: person, session, refreshToken: token, issuedAt: now))
    }

    /// The same arguments give the same answer.
    func answer(
        for person: Person, _ session: SessionID, refreshToken: String, issuedAt: Timestamp
    ) -> AuthResponse {
        let claims = Tokens.Claims(user: person.id, session: session)
        return AuthResponse(
            accessToken: Secret(services.tokens.accessToken(claims, at: issuedAt)), refreshToken: Secret(refreshToken),
            user: person.user, familyID: person.membership?.familyID, familyRole: person.membership?.role)
    }
}
