import Audit
import Contract
import Domain
import Postgres

extension Connections {
    /// Invites somebody by address. A pair has one pending or active connection, whoever invites: a second invitation
    /// answers with the first one.
    func invite(_ caller: Caller, _ call: Call<NoParameters, ConnectionInvite>) async throws -> ConnectionResponse {
        let email = call.body.inviteeEmail.wireText
        let account = try await services.access.account(caller, services.database)
        if let denial = account.connectionDenial { return try await refuse(caller, denial) }
        guard let address = account.connectableAddress, email != address else { throw APIError.invitesSelf }
        let id: ConnectionID = services.random.identifier(at: caller.now)
        let pair = [address, email].sorted().joined(separator: " ")
        do {
            return try await services.ledger.createConnectionLedger(caller, id.retyped(), pair: pair) { queries in
                try await decideInvitation(id, to: email, caregiver: call.body.caregiver, caller, queries)
            }
        } catch let denial as Denial {
            return try await refuse(caller, denial)
        } catch let error as PostgresError where error.violates(.deletedHasNoConnection) {
            // The account of the address was deleted in the meantime.
            throw APIError.serverIsBusy
        }
    }

    /// Returns the decision about an invitation: the pair's existing connection, or the act that makes a new one.
    /// - Throws: the `Denial` of an invitation that is not allowed.
    private func decideInvitation(
        _ id: ConnectionID, to email: String, caregiver: Bool, _ caller: Caller, _ queries: any Queries
    ) async throws -> Decision<ConnectionResponse> {
        let account = try await services.access.account(caller, queries)
        if let denial = account.connectionDenial { throw denial }
        let row = try await queries.query(
            ConnectionStatements.invitationFacts(by: account.id, account.connectableAddress, to: email, at: caller.now)
        ).onlyRow()
        let party = ConnectionParty(
            isInviter: true, isBlocked: try row["is_blocked"], isSuspended: try row["is_suspended"],
            sharesFamily: try row["shares_family"])
        if let existing: ConnectionID = try row["existing"] {
            return .answer(try await view(caller, existing, queries).connection)
        }
        if let denial = RoleMatrix.denialOfConnection(party) { throw denial }
        try Self.requireQuota(row, at: caller.now)
        let connection = ConnectionResponse(
            id: id, inviterID: account.id, inviteeID: nil, inviteeEmail: email, status: .pending, caregiver: caregiver,
            createdAt: caller.now, respondedAt: nil, otherPartyEmail: email, otherPartyDisplayName: nil)
        let invitee: UserID? = try row["invitee_id"]
        let notification = invitee.map { invitee in
            DeliveryStatements.insert(
                DeliveryIDs(services.random, at: caller.now), of: .invited, to: invitee, at: caller.now)
        }
        let act = Act(
            kind: .connectionInvited, basis: .nothing, actor: account.pseudonym, resource: id.retyped(),
            details: ["caregiver": "\(caregiver)"], changesRights: true, stampedRows: 0,
            statements: [ConnectionStatements.insert(connection, invitee: invitee), notification].compactMap(\.self))
        return .perform(act, connection)
    }

    /// Requires that the inviter may send another invitation.
    /// - Parameter row: the row of `ConnectionStatements.invitationFacts`.
    /// - Throws: 409 for somebody with too many connections or open invitations, 429 for too many new ones.
    private static func requireQuota(_ row: Row, at now: Timestamp) throws {
        let (open, active, today): (Int, Int, Int) = (try row["open"], try row["active"], try row["today"])
        guard open < ConnectionLimit.maxOpenInvitations else { throw APIError.tooManyOpenInvitations }
        guard active < ConnectionLimit.maxActiveConnections else { throw APIError.tooManyConnections }
        if today >= ConnectionLimit.invitationsPerDay, let firstSentAt: Timestamp = try row["first_today"] {
            throw APIError.tooManyInvitations(until: firstSentAt + ConnectionLimit.day, at: now)
        }
        if try row["to_address"] >= ConnectionLimit.invitationsPerAddressAndMonth,
            let firstSentAt: Timestamp = try row["first_to_address"]
        {
            throw APIError.tooManyInvitationsToAddress(until: firstSentAt + ConnectionLimit.month, at: now)
        }
    }

    /// Refuses an invitation with an entry in the chain of the inviter's family, or in the one outside families.
    private func refuse(_ caller: Caller, _ denial: Denial) async throws -> ConnectionResponse {
        try await services.writeToOwnChain(caller) { inviter, seq, _ in
            let act = Act.denial(
                .connectionInviteDenied, basis: .rightsUnchanged(since: seq), actor: inviter.pseudonym,
                reason: denial.rawValue)
            let code: ErrorCode = denial == inviter.connectionDenial ? .authorizationDenied : .policyForbidden
            return .refuse(act, APIError(code, denial))
        }
    }
}
