import Audit
import Contract
import Domain
import Postgres
import SQL

/// Connections between adults of different families.
///
/// Each connection is a ledger of its own, with its own order and audit chain: its id takes the place of a family's.
/// Before the invitation is accepted, nothing tells the inviter whether the address has an account.
final class Connections {
    let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `connections`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.inviteConnection, invite)
        routes.signedIn(API.listConnections, list)
        routes.signedIn(API.listPendingConnections, listPending)
        routes.signedIn(API.acceptConnection, accept)
        routes.signedIn(API.declineConnection, decline)
        routes.signedIn(API.revokeConnection, revoke)
        routes.signedIn(API.updateConnectionType, updateType)
        routes.signedIn(API.listConnectionChildren, listChildren)
    }

    // MARK: Reads

    /// Lists the caller's own connections and invitations, in both directions, the newest first.
    func list(_ caller: Caller, _ call: Call<ConnectionListQuery, NoBody>) async throws -> Page<ConnectionResponse> {
        try await page(caller, call.parameters.status, call.parameters.page)
    }

    /// Lists the invitations that others sent to the caller, even those sent before the caller had an account.
    func listPending(_ caller: Caller, _ call: Call<PageRequest, NoBody>) async throws -> Page<ConnectionResponse> {
        try await page(caller, .pending, isInbound: true, call.parameters)
    }

    private func page(
        _ caller: Caller, _ status: ConnectionStatus?, isInbound: Bool = false, _ page: PageRequest
    ) async throws -> Page<ConnectionResponse> {
        let account = try await services.access.account(caller, services.database)
        let rows = try await services.database.query(
            ConnectionStatements.page(
                of: account.id, address: account.connectableAddress, status, isInbound: isInbound, page))
        return try Page(rows, answering: page) { row in
            guard try row["id"] as ConnectionID? != nil else { return nil }
            return try ConnectionResponse(row, for: account.id)
        }
    }

    /// Lists the children whom the caller may nag over a caregiver's connection. They are children of the families in
    /// which the other party is a guardian, if that party allows it.
    /// - Throws: 403 where the connection is not a caregiver's.
    func listChildren(
        _ caller: Caller, _ call: Call<ConnectionPath, NoBody>
    ) async throws -> [CaregiverConnectionChild] {
        let id = call.parameters.connectionID
        let view = try await view(caller, id, services.database)
        guard view.connection.status == .active, view.connection.caregiver else {
            throw APIError(.authorizationDenied, .notACaregiver)
        }
        guard view.otherSharesChildren, let guardian = view.otherID else { return [] }
        let rows = try await services.database.query(
            ConnectionStatements.children(ofGuardian: guardian, for: caller.userID))
        return try rows.map { row throws(PostgresError) in
            CaregiverConnectionChild(
                userID: try row["user_id"], displayName: try row["display_name"], familyID: try row["family_id"],
                familyName: try row["family_name"], connectionID: id)
        }
    }

    // MARK: Parts of all operations

    /// Reads a connection as the caller sees it.
    /// - Throws: 404 for everybody but its parties.
    func view(
        _ caller: Caller, _ id: ConnectionID, _ queries: any Queries
    ) async throws -> ConnectionView {
        let account = try await services.access.account(caller, queries)
        let rows = try await queries.query(
            ConnectionStatements.connection(id, of: account.id, address: account.connectableAddress))
        guard let row = rows.first else { throw APIError.noSuchConnection }
        return try ConnectionView(row, for: account)
    }

    /// Reads a connection and carries out the closure's decision about it. If that would cancel more nags than one act
    /// can, they are cancelled before; if the process dies in between, the connection itself is unchanged.
    func decideAndCommit(
        _ caller: Caller, _ path: ConnectionPath, _ body: (ConnectionView) throws -> Decision<ConnectionResponse>
    ) async throws -> ConnectionResponse {
        while true {
            do {
                return try await decideAndCommitOnce(caller, path, body)
            } catch is ConnectionView.TooManyOpenNags {
                let recipients = NagStatements.openNagRecipients(over: path.connectionID)
                try await ConnectionNagCancellation(services).cancel(recipients, caller.context)
            }
        }
    }

    private func decideAndCommitOnce(
        _ caller: Caller, _ path: ConnectionPath, _ body: (ConnectionView) throws -> Decision<ConnectionResponse>
    ) async throws -> ConnectionResponse {
        let id = path.connectionID
        // Refuses other people before the write, so that their requests do not wait in the connection's queue.
        _ = try await view(caller, id, services.database)
        return try await services.ledger.write(caller, in: id.retyped()) { queries in
            try body(try await view(caller, id, queries))
        }
    }
}
