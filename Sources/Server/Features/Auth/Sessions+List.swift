import Audit
import Contract
import Domain
import Postgres
import SQL

extension Sessions {
    /// Lists the caller's open sessions, the last used first.
    func list(_ caller: Caller, _ call: Call<PageRequest, NoBody>) async throws -> Page<SessionResponse> {
        _ = try await services.access.account(caller, services.database)
        let rows = try await services.database.query(
            SessionStatements.openSessions(of: caller.userID, call.parameters, at: caller.now))
        return try Page(rows, answering: call.parameters) { row in
            guard let id: SessionID = try row["id"] else { return nil }
            return SessionResponse(
                id: id, createdAt: try row["created_at"], lastUsedAt: try row["last_used_at"],
                expiresAt: try row["expires_at"], client: try row["client"], isChild: try row["is_child"],
                isCurrent: id == caller.sessionID)
        }
    }

    /// Ends one of the caller's sessions, which may be the current one, and deletes its device secret.
    /// - Throws: 404 for a session that has ended, and for another person's.
    func endOne(_ caller: Caller, _ call: Call<SessionPath, NoBody>) async throws -> NoAnswer {
        let id = call.parameters.sessionID
        return try await endSessions(of: caller) { account, seq, queries in
            guard try await !queries.query(SessionStatements.openSession(id, of: account.id, at: caller.now)).isEmpty
            else {
                throw APIError.noSuchSession
            }
            return Act(
                kind: .sessionRevoked, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: account.pseudonym, resource: id.retyped(), details: ["reason": "ended_by_owner"],
                changesRights: true, stampedRows: 0,
                statements: [
                    SessionStatements.revoke(id, at: caller.now), DeviceSecretStatements.delete(of: account.id, in: id),
                ])
        }
    }

    /// Ends all of the caller's sessions except the current one, and deletes their device secrets.
    func endOthers(_ caller: Caller, _ call: Call<NoParameters, NoBody>) async throws -> NoAnswer {
        try await endSessions(of: caller) { account, seq, queries in
            let statements = [
                SessionStatements.revokeAll(of: account.id, except: caller.sessionID, at: caller.now),
                DeviceSecretStatements.deleteAll(of: account.id, except: caller.sessionID),
            ]
            return Act(
                kind: .sessionRevoked, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: account.pseudonym, details: ["reason": "ended_by_owner", "which": "others"],
                changesRights: true, stampedRows: 0, statements: statements)
        }
    }

    /// Writes an act that ends sessions to the chain of the caller's family, or to the one outside families.
    private func endSessions(
        of caller: Caller, _ act: (Account, _ seq: Int64, any Queries) async throws -> Act
    ) async throws -> NoAnswer {
        try await services.writeToOwnChain(caller) { account, seq, queries in
            .perform(try await act(account, seq, queries), NoAnswer())
        }
    }
}
