import Contract
import Domain
import HTTP
import Reactor

/// `GET /api/v1/ws?ticket=…&family_id=…`: a WebSocket that sends the events of one family. Older clients send an access
/// token as `token` in place of the ticket.
///
/// A browser's request has an `Origin` and is refused with an HTTP status. Other clients cannot distinguish a refused
/// request from a broken connection, and would reconnect at once. So their sockets are accepted and then closed: with
/// 4001 for a token or membership that is not valid, and with 4002 for everything else.
final class RealtimeRoute {
    static let template = "/api/v1/ws"

    private let services: Services
    private let sockets: LoopSockets
    private let limiter: RateLimiter
    private let log: Log
    private let tickets: SocketTickets

    init(_ services: Services, _ sockets: LoopSockets, _ limiter: RateLimiter, _ log: Log) {
        (self.services, self.sockets, self.limiter) = (services, sockets, limiter)
        self.log = log
        tickets = SocketTickets(services)
    }

    func register(in routes: RouteTable) {
        tickets.register(in: routes)
        let route = LoopBound(value: self)
        routes.add(Route(.get, Self.template) { request in await route.value.serve(request) })
    }

    private func serve(_ request: Request) async -> Response {
        let handshake: WebSocketHandshake
        do throws(WebSocketHandshake.Refusal) { handshake = try WebSocketHandshake(request) } catch {
            let refusal = APIError(.malformedRequest, error.reason, status: Int(error.status.rawValue))
            return RouteTable.errorResponse(refusal, request.id.description, error.fields)
        }
        let bound = LoopBound(value: sockets)
        do {
            let opening = try await admit(request)
            return .upgrade(to: "websocket", fields: handshake.fields) { bound.value.open(opening, $0) }
        } catch {
            let failure = Failure(error)
            log.write(failure, request)
            let isCallerNotEntitled = failure.answer.status == 401 || failure.answer.status == 403
            guard !request.headers.contains("origin") else {
                var refusal = failure.answer
                if isCallerNotEntitled { refusal.status = 401 }
                return RouteTable.errorResponse(refusal, request.id.description)
            }
            let (code, network) = (
                isCallerNotEntitled ? LoopSockets.notEntitled : LoopSockets.unavailable, request.clientAddress.network
            )
            return .upgrade(to: "websocket", fields: handshake.fields) { bound.value.refuse($0, network, with: code) }
        }
    }

    /// Checks whether the request may open a socket. It uses up the ticket, counts the request, and takes a permit.
    /// - Throws: the reason for which it may not.
    private func admit(_ request: Request) async throws -> LoopSockets.Opening {
        let context = CallContext(
            now: services.clock.now(), trace: TraceID(high: request.trace.traceHigh, low: request.trace.traceLow),
            request: Domain.RequestID(high: request.id.high, low: request.id.low),
            remote: request.clientAddress.network)
        guard !sockets.isDraining else { throw APIError.serverIsStopping }
        let caller: Caller
        if let ticket = request.query["ticket"] {
            // Counted first: a guess costs a statement.
            try enforceLimit(.network(request.clientAddress.network), context)
            caller = try await tickets.consume(ticket, context)
        } else {
            do { caller = try services.verifiedTokens.caller(request.query["token"], context) } catch {
                try enforceLimit(.network(request.clientAddress.network), context)
                throw error
            }
        }
        try enforceLimit(.user(caller.userID), context)
        guard let family = request.query["family_id"].flatMap({ FamilyID($0) }) else {
            throw APIError.familyIDIsInvalid
        }
        let member = try await member(caller, of: family)
        guard let permit = sockets.exchange.limiter.admit(caller.userID, request.clientAddress.network) else {
            throw APIError.tooManySockets
        }
        return LoopSockets.Opening(
            user: caller.userID, session: caller.sessionID, family: family, role: member.role, seq: member.seq,
            handshakeBeganAt: caller.now,
            network: request.clientAddress.network, isBrowser: request.headers.contains("origin"), permit: permit)
    }

    /// Returns the caller as a member of the family. A request of an ended session is counted by its address, as in
    /// other operations.
    private func member(_ caller: Caller, of family: FamilyID) async throws -> Member {
        do {
            return try await services.access.member(caller, of: family, services.database)
        } catch let refusal as APIError where refusal.reason == ErrorReason.sessionEnded {
            limiter.refund(.user(caller.userID), .read, at: caller.now)
            try enforceLimit(.network(caller.context.remote), caller.context)
            throw refusal
        }
    }

    private func enforceLimit(_ subject: RateLimiter.Subject, _ context: CallContext) throws(APIError) {
        guard let quota = limiter.consume(subject, .read, at: context.now), !quota.isAllowed else { return }
        throw APIError.tooManyRequests(retryAfter: quota.secondsToReset)
    }
}
