import Audit
import Contract
import Domain
import Postgres

extension Connections {
    /// Accepts an invitation, for the invitee.
    /// - Throws: 403 for the inviter, and where the two may have no connection; 409 if the invitation is not pending,
    ///   either of them has too many connections, or they are connected already.
    func accept(_ caller: Caller, _ call: Call<ConnectionPath, NoBody>) async throws -> ConnectionResponse {
        do {
            return try await decideAndCommit(caller, call.parameters) { view in
                if let denial = RoleMatrix.denial(of: .accept, by: view.party), denial == .inviteeOnly {
                    return view.refuse(.connectionAcceptDenied, denial)
                }
                guard view.connection.status == .pending else { throw APIError.invitationIsClosed }
                if let denial = view.account.connectionDenial { return view.refuse(.connectionAcceptDenied, denial) }
                if let denial = RoleMatrix.denial(of: .accept, by: view.party) {
                    return view.refuse(.connectionAcceptDenied, denial, .policyForbidden)
                }
                guard view.callerAndInviterActiveCounts.allSatisfy({ $0 < ConnectionLimit.maxActiveConnections }) else {
                    throw APIError.tooManyConnections
                }
                var connection = view.connection
                (connection.status, connection.respondedAt) = (.active, caller.now)
                return .perform(
                    view.act(
                        .connectionAccepted,
                        ConnectionStatements.accept(connection.id, by: caller.userID, at: caller.now),
                        DeliveryStatements.insert(
                            DeliveryIDs(services.random, at: caller.now), of: .accepted, to: connection.inviterID,
                            at: caller.now)),
                    connection)
            }
        } catch let error as PostgresError where error.violates(.deletedHasNoConnection) {
            throw APIError.invitationIsClosed
        } catch let error as PostgresError where error.violates(.onePendingOrActiveConnection) {
            throw APIError.connectionExists
        }
    }

    /// Declines an invitation, for the invitee.
    /// - Throws: 403 for the inviter, 409 if the invitation is not pending.
    func decline(_ caller: Caller, _ call: Call<ConnectionPath, NoBody>) async throws -> ConnectionResponse {
        try await decideAndCommit(caller, call.parameters) { view in
            if let denial = RoleMatrix.denial(of: .decline, by: view.party) {
                return view.refuse(.connectionDeclineDenied, denial)
            }
            guard view.connection.status == .pending else { throw APIError.invitationIsClosed }
            return try end(view, as: .declined, .connectionDeclined, at: caller.now)
        }
    }

    /// Ends a connection and its open nags, or an invitation that was not answered, for either party. Repeating it
    /// changes nothing.
    /// - Throws: 409 for an invitation that was declined.
    func revoke(_ caller: Caller, _ call: Call<ConnectionPath, NoBody>) async throws -> ConnectionResponse {
        try await decideAndCommit(caller, call.parameters) { view in
            switch view.connection.status {
            case .revoked: .answer(view.connection)
            case .declined: throw APIError.invitationWasDeclined
            case .pending, .active: try end(view, as: .revoked, .connectionRevoked, at: caller.now)
            }
        }
    }

    /// Returns the decision that ends a connection and cancels its open nags.
    /// - Throws: `TooManyOpenNags`.
    private func end(
        _ view: ConnectionView, as status: ConnectionStatus, _ kind: AuditKind, at now: Timestamp
    ) throws -> Decision<ConnectionResponse> {
        var connection = view.connection
        (connection.status, connection.caregiver) = (status, false)
        if status == .declined { connection.respondedAt = now }
        let invitee = view.party.isInviter ? nil : view.account.id
        let act = view.act(kind, ConnectionStatements.end(connection.id, as: status, invitee: invitee, at: now))
        return .perform(try view.actCancellingNags(from: act, at: now), connection)
    }

    /// Changes whether the connection is a caregiver's. A guardian can let the other party nag the guardian's children.
    /// Either party can end that for both of them, which cancels the open nags to children.
    /// - Throws: 409 unless the connection is active; 403 for somebody who may not let the other party nag children.
    func updateType(
        _ caller: Caller, _ call: Call<ConnectionPath, ConnectionTypeUpdate>
    ) async throws -> ConnectionResponse {
        let shares = call.body.caregiver
        return try await decideAndCommit(caller, call.parameters) { view in
            guard view.connection.status == .active else { throw APIError.connectionIsNotActive }
            if shares ? view.callerSharesChildren : !view.connection.caregiver { return .answer(view.connection) }
            if shares, let denial = RoleMatrix.denial(of: .shareChildren, by: view.party) {
                let code: ErrorCode = denial == .ownChildrenOnly ? .authorizationDenied : .policyForbidden
                return view.refuse(.connectionChangeDenied, denial, code)
            }
            var connection = view.connection
            connection.caregiver = shares
            let inviterShares = shares && (view.inviterSharesChildren || view.party.isInviter)
            let inviteeShares = shares && (view.inviteeSharesChildren || !view.party.isInviter)
            let act = view.act(
                .connectionChanged,
                details: [
                    "inviter_shares_children": "\(inviterShares)", "invitee_shares_children": "\(inviteeShares)",
                ],
                ConnectionStatements.setSharing(
                    connection.id, inviterShares: inviterShares, inviteeShares: inviteeShares))
            return .perform(
                shares ? act : try view.actCancellingNags(toChildrenOnly: true, from: act, at: caller.now), connection)
        }
    }
}
