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
                of: account.id, address: account.connectableAddress, limit: InvitationExpiry.batchSize)
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
            if ids.count < InvitationExpiry.batchSize { return }
        }
    }
}

/// Revokes invitations that were not answered within `ConnectionLimit.invitationLifetime`.
///
/// Each is an act in the chain of its connection. Any number of instances may run it at the same time.
struct InvitationExpiry {
    /// The maximum number of connections in one read.
    static let batchSize = 500

    let database: any Queries
    let ledger: Ledger

    /// Revokes all expired invitations.
    /// - Parameter context: makes the context of one act.
    /// - Returns: the number of revoked invitations.
    func run(_ context: () -> CallContext) async throws -> Int {
        var revokedCount = 0
        while true {
            let cutoff = context().now - ConnectionLimit.invitationLifetime
            let ids = try await database.query(
                ConnectionStatements.unansweredInvitations(createdUpTo: cutoff, limit: Self.batchSize)
            ).map { row throws(PostgresError) -> ConnectionID in try row["id"] }
            let earlierCount = revokedCount
            for id in ids { revokedCount += try await revoke(id, context()) ? 1 : 0 }
            // If this batch revoked none, another instance is revoking the same invitations.
            if ids.count < Self.batchSize || revokedCount == earlierCount { return revokedCount }
        }
    }

    /// Revokes one invitation.
    /// - Returns: false if it was answered or revoked in the meantime.
    private func revoke(_ id: ConnectionID, _ context: CallContext) async throws -> Bool {
        let answer: StatusAnswer = try await ledger.write(context, in: id.retyped()) { queries in
            guard let row = try await queries.query(ConnectionStatements.status(of: id)).first,
                try row["status"] == ConnectionStatus.pending
            else { return .answer(StatusAnswer(status: "done before")) }
            let act = Act(
                kind: .connectionRevoked, basis: .nothingChanged(since: try row["seq"]),
                actor: SystemActor.scheduler.retyped(), resource: id.retyped(), details: ["reason": "expired"],
                changesRights: true, stampedRows: 0,
                statements: [ConnectionStatements.end(id, as: .revoked, invitee: nil, at: context.now)])
            return .perform(act, StatusAnswer(status: "done"))
        }
        return answer.status == "done"
    }
}
