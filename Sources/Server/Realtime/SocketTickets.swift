import Audit
import Contract
import Domain
import Postgres
import SQL

/// Creates tickets, each of which opens one WebSocket. A URL may be logged on its way, so it contains a ticket in place
/// of the access token.
///
/// A ticket has 256 random bits, of which a digest is stored, and opens a socket on any instance within thirty seconds.
/// It proves the session in which it was created, and nothing else: the rights are checked when the socket opens.
final class SocketTickets {
    static let lifetime = Timestamp.Span.seconds(30)

    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers the route that creates a ticket.
    func register(in routes: RouteTable) {
        routes.signedIn(API.createSocketTicket, create)
    }

    private func create(_ caller: Caller, _ call: Call<NoParameters, NoBody>) async throws -> SocketTicket {
        _ = try await services.access.account(caller, services.database)
        guard let session = caller.sessionID else { throw APIError.tokenHasNoSession }
        let ticket = base64URL(services.random.bytes(32))
        let end = caller.now + Self.lifetime
        _ = try await services.database.query(
            SocketTicketStatements.insert(ticket, of: caller.userID, session, until: end))
        return SocketTicket(ticket: Secret(ticket), expiresIn: Int(Self.lifetime.microseconds / 1_000_000))
    }

    /// Consumes a ticket, and returns the caller whom it names.
    /// - Throws: 401 for a ticket that is unknown, expired or used.
    func consume(_ ticket: String, _ context: CallContext) async throws -> Caller {
        let rows = try await services.database.query(SocketTicketStatements.consume(ticket, at: context.now))
        guard let row = rows.first else { throw APIError.ticketIsInvalid }
        return Caller(ofTicket: try row["user_id"], try row["session_id"], context)
    }
}

/// Every statement on tickets.
enum SocketTicketStatements {
    private static func digest(_ ticket: String) -> [UInt8] { sha256(Array("socket ticket\n\(ticket)".utf8)) }

    static func insert(_ ticket: String, of user: UserID, _ session: SessionID, until end: Timestamp) -> SQL {
        """
        INSERT INTO socket_tickets (digest, user_id, session_id, expires_at)
        VALUES (\(digest(ticket)), \(user), \(session), \(end))
        """
    }

    /// Deletes a ticket and returns its row. Of several concurrent uses, only one gets the row.
    static func consume(_ ticket: String, at now: Timestamp) -> SQL {
        """
        DELETE FROM socket_tickets WHERE digest = \(digest(ticket)) AND expires_at > \(now)
        RETURNING user_id, session_id
        """
    }

    /// Deletes at most `count` expired tickets.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM socket_tickets WHERE digest IN (
            SELECT digest FROM socket_tickets WHERE expires_at <= \(now)
            ORDER BY expires_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
