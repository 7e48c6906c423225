import Audit
import Contract
import Domain
import Postgres

extension Sessions {
    /// Exchanges a refresh token for a new pair of tokens.
    ///
    /// The next refresh token is computed from the last (`Tokens.successors`), and the access token from the time of
    /// the exchange, so that a second request with the same token within the grace period gets the same pair. A second
    /// request after the grace period means that somebody has stolen the token: the session ends.
    /// - Throws: 401; its reason says so if the account was deleted.
    package func refresh(_ context: CallContext, _ call: Call<NoParameters, RefreshRequest>) async throws
        -> AuthResponse
    {
        let (now, token) = (context.now, call.body.refreshToken.wireText)
        let hash = Tokens.refreshHash(token)
        let sessionRow = try await services.database.query(SessionStatements.byRefreshToken(hash, at: now)).first
        guard let chain = try sessionRow.map(Person.init)?.chain else {
            // The holder of a token may learn that the account was deleted, because the device must remove its data.
            let deletedOwner = try await services.database.query(
                SessionStatements.deletedOwner(refreshHash: hash)
            ).first
            guard deletedOwner != nil else { throw APIError.refreshTokenIsInvalid }
            throw APIError.accountIsDeleted
        }

        return try await services.ledger.write(context, in: chain) { queries in
            let statement = SessionStatements.byRefreshToken(hash, at: now, chain: chain)
            guard let row = try await queries.query(statement).first, try row["is_open"] else {
                throw APIError.refreshTokenIsInvalid
            }
            let person = try Person(row)
            let session: SessionID = try row["session_id"]
            var act = Act(
                kind: .sessionRefreshed, basis: .nothingChanged(since: try row["seq"]), actor: person.pseudonym,
                subject: person.pseudonym, resource: session.retyped(), stampedRows: 0)

            if let replacedAt: Timestamp = try row["replaced_at"] {
                guard now > replacedAt + Tokens.refreshGrace else {
                    guard let next = try await storedSuccessor(of: token, in: session, at: now, queries) else {
                        throw APIError.refreshTokenIsInvalid
                    }
                    return .answer(response(for: person, session, refreshToken: next, issuedAt: replacedAt))
                }
                act.kind = .sessionRevoked
                act.details = ["reason": "refresh_token_reused"]
                act.changesRights = true
                act.statements = [SessionStatements.revoke(session, at: now)]
                return .refuse(act, .refreshTokenIsInvalid)
            }
            guard try row["expires_at"] > now, let next = services.tokens.refreshSuccessors(of: token).first else {
                throw APIError.refreshTokenIsInvalid
            }
            let lifetime = Self.lifetime(of: person)
            act.statements = [
                SessionStatements.markReplaced(refreshHash: hash, at: now),
                SessionStatements.insert(refreshHash: Tokens.refreshHash(next), of: session, at: now),
                SessionStatements.prolong(
                    session, at: now, for: lifetime.idleTimeout, maxLifetime: lifetime.maxLifetime),
            ]
            // Clients sign in rarely and refresh daily, so the network address of a refresh counts as known too.
            if let email = person.email { act.statements += knownAddressStatements(of: person.id, email, context) }
            return .perform(act, response(for: person, session, refreshToken: next, issuedAt: now))
        }
    }

    /// Returns the stored successor of a replaced token; nil if the session has none of the possible ones. During a key
    /// rotation another instance may have computed it with the other key.
    private func storedSuccessor(
        of token: String, in session: SessionID, at now: Timestamp, _ queries: any Queries
    ) async throws -> String? {
        for next in services.tokens.refreshSuccessors(of: token) {
            let statement = SessionStatements.byRefreshToken(Tokens.refreshHash(next), at: now)
            if let stored = try await queries.query(statement).first, try stored["session_id"] == session {
                return next
            }
        }
        return nil
    }
}
