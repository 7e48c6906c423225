import Contract
import Domain
import HTTP

/// One request as a feature sees it: typed parameters and body, when it came, and how it is named in logs and audit
/// log.
struct Call<Parameters, Body> {
    let parameters: Parameters
    let body: Body
    let context: CallContext

    var now: Timestamp { context.now }
}

/// What every request carries, whatever it asks for.
struct CallContext: Sendable {
    /// The one moment that all of the request's rules go by.
    let now: Timestamp
    let trace: TraceID
    let request: Domain.RequestID
    /// Where the request came from; nil for what no request asked for.
    var remote: RemoteAddress.Network?
    /// Present when the client wants a repeated write to give the first answer again.
    var idempotency: IdempotencyKey?
    /// The `If-Match` field: the tags of what the client has seen and wants to change, as it sent them.
    var ifMatch: String?
}

extension CallContext {
    /// What an act carries that no request asked for.
    init(unaskedAt now: Timestamp, _ random: any Randomness) {
        self.init(now: now, trace: random.identifier(at: now), request: random.identifier(at: now))
    }
}

/// A client's name for one write, and what it asked for under it: digests both, because bodies hold PINs.
struct IdempotencyKey: Sendable {
    /// SHA-256 of the name.
    let key: [UInt8]
    /// SHA-256 of name, method, path and body.
    let fingerprint: [UInt8]
    /// The status that a success has.
    let status: Int
}

/// A signed-in person. Only `VerifiedTokens.caller` makes one.
struct Caller: Sendable {
    /// What the request acts by.
    enum Session: Sendable {
        /// A signed token: the session it names MUST still stand.
        case signedIn(SessionID)
        /// A development token, which a server accepts with `--dev-tokens` only: there is no session to check.
        case development
    }

    let userID: UserID
    let session: Session
    let context: CallContext

    fileprivate init(userID: UserID, session: Session, context: CallContext) {
        self.userID = userID
        self.session = session
        self.context = context
    }

    /// Nil for a development token.
    var sessionID: SessionID? {
        switch session {
        case .signedIn(let id): id
        case .development: nil
        }
    }

    var now: Timestamp { context.now }

    /// The same person with the same request, whose writes are named otherwise.
    var withoutIdempotencyKey: Caller {
        var context = context
        context.idempotency = nil
        return Caller(userID: userID, session: session, context: context)
    }
}

extension VerifiedTokens {
    /// Who a bearer token speaks for.
    /// - Throws: 401 unless the token is ours, whole and in time. Whether its session still stands is the database's to
    ///   say: `Access` checks it in the same statement that reads what the request needs.
    func caller(_ token: String?, _ context: CallContext) throws(APIError) -> Caller {
        guard let token else {
            throw APIError(
                .authenticationFailed, "Send an access token as Authorization: Bearer.",
                reason: ErrorReason.tokenMissing)
        }
        let verified = try verify(token, at: context.now)
        return Caller(userID: verified.user, session: verified.session, context: context)
    }
}
