import Audit
import Contract
import Domain
import Postgres
import SQL

extension Sessions {
    /// Ends the session of the access token and that of the refresh token, usually the same one. A session that has
    /// ended or never existed is not an error: the client wants it ended, and it is.
    /// - Parameter session: the session of the access token; nil if the request has none that this service signed.
    package func logOut(
        _ session: SessionID?, _ context: CallContext, _ call: Call<NoParameters, RefreshRequest?>
    ) async throws -> NoAnswer {
        if let session {
            try await end(context) { SessionStatements.byID(session, at: context.now, chain: $0) }
        }
        if let hash = (call.body?.refreshToken.wireText).map(Tokens.refreshHash) {
            try await end(context) { SessionStatements.byRefreshToken(hash, at: context.now, chain: $0) }
        }
        return NoAnswer()
    }

    /// Ends a session, unless it has ended or never existed.
    /// - Parameter statement: returns the statement that reads the session and the chain's newest sequence number.
    private func end(_ context: CallContext, _ statement: (_ chain: FamilyID) -> SQL) async throws {
        guard let sessionRow = try await services.database.query(statement(.outside)).first else { return }
        let chain = try Person(sessionRow).chain
        let _: NoAnswer = try await services.ledger.write(context, in: chain) { queries in
            guard let row = try await queries.query(statement(chain)).first, try row["is_open"] else {
                return .answer(NoAnswer())
            }
            let person = try Person(row)
            let session: SessionID = try row["session_id"]
            let act = Act(
                kind: .sessionRevoked, basis: .nothingChanged(since: try row["seq"]), actor: person.pseudonym,
                subject: person.pseudonym, resource: session.retyped(), details: ["reason": "log_out"],
                changesRights: true, stampedRows: 0, statements: [SessionStatements.revoke(session, at: context.now)])
            return .perform(act, NoAnswer())
        }
    }
}
