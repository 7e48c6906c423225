import Contract
import Domain
import HTTP
import Synchronization

/// A request as a feature sees it: its typed parameters and body. Its `CallContext` comes beside it, or within the
/// `Caller` where the operation needs a signed-in person.
package struct Call<Parameters, Body> {
    let parameters: Parameters
    let body: Body

    package init(_ parameters: Parameters, _ body: Body) {
        self.parameters = parameters
        self.body = body
    }
}

/// The context that every request carries, whatever its operation.
package struct CallContext: Sendable {
    /// The request's time. All rules of the request use this one value.
    let now: Timestamp
    /// The trace of the request. An AI or draft request may name another one, which then takes its place.
    var trace: TraceID
    let request: Domain.RequestID
    /// The client's network; nil for work that no request asked for.
    var remote: RemoteAddress.Network?
    /// The `User-Agent` field, its first 200 characters; nil without one.
    var userAgent: String?
    /// The name that the client gave its write, so that a retry gets the first answer again; nil without one.
    var idempotency: IdempotencyKey?
    /// The `If-Match` field as the client sent it.
    var ifMatch: String?
}

extension CallContext {
    /// Creates the context of work that no request asked for, such as housekeeping.
    package init(systemActAt now: Timestamp, _ random: any Randomness) {
        self.init(now: now, trace: random.identifier(at: now), request: random.identifier(at: now))
    }
}

/// An `Idempotency-Key` and a fingerprint of the request that carried it. Both are digests, because bodies hold PINs.
struct IdempotencyKey: Sendable {
    /// The SHA-256 of the `Idempotency-Key`.
    let digest: [UInt8]
    /// The SHA-256 of key, method, request target and body.
    let fingerprint: [UInt8]
    /// The HTTP status of the answer if the operation succeeds.
    let successStatus: Int
}

/// A signed-in person. Only `VerifiedTokens.caller` and `SocketTickets.consume` create one. It is a class, because
/// every step of a request gets it.
package final class Caller: Sendable {
    /// The proof of the caller's identity.
    enum Session: Sendable {
        /// A signed token, or a WebSocket's ticket. `Access` MUST check that the session which it names is still open.
        case signedIn(SessionID)
        /// A development token, accepted with `--dev-tokens` only: it has no session.
        case development
    }

    package let userID: UserID
    let session: Session
    package let context: CallContext
    private let replayFlag = Atomic(false)

    fileprivate init(userID: UserID, session: Session, context: CallContext) {
        self.userID = userID
        self.session = session
        self.context = context
    }

    /// Creates the caller whom a WebSocket's ticket names, which proves a session as a token does.
    convenience init(ofTicket user: UserID, _ session: SessionID, _ context: CallContext) {
        self.init(userID: user, session: .signedIn(session), context: context)
    }

    /// The session that the caller's token or ticket names; nil for a development token.
    var sessionID: SessionID? {
        switch session {
        case .signedIn(let id): id
        case .development: nil
        }
    }

    var now: Timestamp { context.now }

    /// Whether the response is that of an earlier request, which a header field says.
    var isResponseReplayed: Bool { replayFlag.load(ordering: .relaxed) }

    /// Records that the response is that of an earlier request. Copies of the caller do not learn of it.
    func markResponseReplayed() { replayFlag.store(true, ordering: .relaxed) }

    /// Returns the same caller at another time, for a request that takes long.
    func copy(at now: Timestamp) -> Caller {
        let context = CallContext(
            now: now, trace: context.trace, request: context.request, remote: context.remote,
            userAgent: context.userAgent, idempotency: context.idempotency, ifMatch: context.ifMatch)
        return Caller(userID: userID, session: session, context: context)
    }

    /// Returns the same caller under the trace that the client has named.
    func traced(by trace: TraceID) -> Caller {
        var context = context
        context.trace = trace
        return Caller(userID: userID, session: session, context: context)
    }

    /// A copy of the caller without `Idempotency-Key` and `If-Match`, for the writes that one request consists of.
    var withoutConditions: Caller {
        var context = context
        context.idempotency = nil
        context.ifMatch = nil
        return Caller(userID: userID, session: session, context: context)
    }
}

extension VerifiedTokens {
    /// Returns the caller that a bearer token names. It does not check whether the session is still open: `Access` does
    /// that in the statement that reads what the request needs.
    /// - Throws: 401 unless the token is present, signed by this service and not expired.
    package func caller(_ token: String?, _ context: CallContext) throws(APIError) -> Caller {
        guard let token else { throw APIError.accessTokenIsMissing }
        let verified = try verify(token, at: context.now)
        return Caller(userID: verified.user, session: verified.session, context: context)
    }
}
