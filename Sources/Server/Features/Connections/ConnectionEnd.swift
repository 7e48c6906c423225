import Audit
import Contract
import Domain
import Postgres

extension Connections {
    /// Revokes all pending and active connections of a caller who deletes their account, each in an act of its own.
    func revokeAll(of caller: Caller) async throws {
        // The idempotency key belongs to the deletion.
        let caller = caller.withoutConditions
        while true {
            let account = try await services.access.account(caller, services.database)
            let statement = ConnectionStatements.pendingOrActive(
                of: account.id, address: account.connectableAddress, limit: DueBatches.size)
            let ids = try await services.database.query(statement).map { row throws(PostgresError) -> ConnectionID in
                try row["id"]
            }
            for id in ids {
                let path = ConnectionPath(connectionID: id)
                do {
                    _ = try await revoke(caller, Call(path, NoBody()))
                } catch let error as APIError where error.code == .conflict {
                    // The invitee has declined it in the meantime.
                }
            }
            if ids.count < DueBatches.size { return }
        }
    }
}

/// Revokes invitations that were not answered within `ConnectionLimit.invitationLifetime`.
///
/// Each is an act in the chain of its connection. Any number of instances may run it at the same time.
struct InvitationExpiry {
    let database: any Queries
    let ledger: Ledger

    /// Revokes all expired invitations.
    /// - Parameter context: makes the context of one act.
    /// - Returns: the number of revoked invitations.
    func run(_ context: () -> CallContext) async throws -> Int {
        try await DueBatches.run {
            let cutoff = context().now - ConnectionLimit.invitationLifetime
            return try await database.query(
                ConnectionStatements.unansweredInvitations(createdUpTo: cutoff, limit: DueBatches.size)
            ).map { row throws(PostgresError) -> ConnectionID in try row["id"] }
        } _: {
            try await revoke($0, context())
        }
    }

    /// Revokes one invitation.
    /// - Returns: false if it was answered or revoked in the meantime.
    private func revoke(_ id: ConnectionID, _ context: CallContext) async throws -> Bool {
        return try await ledger.performIfDue(context, in: id.retyped()) { queries in
            guard let row = try await queries.query(ConnectionStatements.status(of: id)).first,
                try row["status"] == ConnectionStatus.pending
            else { return nil }
            return Act(
                kind: .connectionRevoked, basis: .nothingChanged(since: try row["seq"]),
                actor: SystemActor.scheduler.retyped(), resource: id.retyped(), details: ["reason": "expired"],
                changesRights: true, stampedRows: 0,
                statements: [ConnectionStatements.end(id, as: .revoked, invitee: nil, at: context.now)])
        }
    }
}
