import Audit
import Contract
import Domain
import Postgres
import SQL

extension Services {
    /// Runs `body` if the password is that of the caller's account. Attempts count against the same limits as sign-ins,
    /// and a wrong password is recorded in the audit log.
    /// - Parameters:
    ///   - email: the email address of the caller's account.
    ///   - chain: the chain that records a wrong password.
    ///   - body: called with the part of an act that resets the person's own count of attempts, and refunds this
    ///     attempt in the shared counts. If `body` throws, the attempt is refunded too.
    /// - Throws: 422 for a wrong password, 429 when the attempts are used up.
    func withConfirmedPassword<Answer: WireContent>(
        _ password: Secret, of account: Account, _ email: String, _ caller: Caller, in chain: FamilyID,
        _ body: (SQL) async throws -> Answer
    ) async throws -> Answer {
        let (now, remote) = (caller.now, caller.context.remote)
        let addresses = KnownAddresses.hashes(email, remote, tokens)
        let row = try await database.query(AccountStatements.byEmail(email, from: addresses, at: now)).first
        let isKnownAddress: Bool = try row?["is_known_address"] ?? false
        let (ownLimit, sharedLimits) = Attempts.limits(email, from: remote, isKnownAddress: isKnownAddress)
        try await Attempts.countOrThrow([ownLimit] + sharedLimits, at: now, database)
        let hash: String? = try row.flatMap { row in try row["password_hash"] }
        let isRight = try await Attempts.refundingOnFailure([ownLimit] + sharedLimits, at: now, database) {
            try await hashing.matches(password.wireText, against: hash, .credentials, for: caller.userID)
        }
        guard isRight else {
            return try await ledger.write(caller, in: chain) { queries in
                .refuse(
                    Act(
                        kind: .signInFailed, basis: .nothing, actor: account.pseudonym, subject: account.pseudonym,
                        details: ["method": "confirmation"], stampedRows: 0),
                    APIError.passwordIsWrong)
            }
        }
        return try await Attempts.refundingOnFailure([ownLimit] + sharedLimits, at: now, database) {
            try await body(AttemptStatements.resetAfterSuccess(ownLimit, sharedLimits))
        }
    }
}
