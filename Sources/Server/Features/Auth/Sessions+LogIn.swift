import Audit
import Contract
import Domain
import Postgres
import SQL

extension Sessions {
    /// Begins a session with an email address and its password.
    ///
    /// An unknown email address and a wrong password give the same answer after the same work. Strangers cannot use up
    /// the attempts from a network address that the account has used before, or of a device that it has signed in on.
    package func logIn(_ context: CallContext, _ call: Call<NoParameters, LoginRequest>) async throws -> AuthResponse {
        let (now, email, remote) = (context.now, call.body.email.wireText, context.remote)
        let addresses = KnownAddresses.hashes(email, remote, services.tokens)
        let sentSecret = call.body.deviceSecret
        let statement = AccountStatements.byEmail(
            email, from: addresses, on: sentSecret.map(DeviceSecrets.hash), at: now)
        let row = try await services.database.query(statement).first
        let isKnownAddress: Bool = try row?["is_known_address"] ?? false
        let isKnownDevice: Bool = try row?["is_known_device"] ?? false
        let deviceSecret = isKnownDevice ? sentSecret : nil
        let (ownLimit, sharedLimits) = Attempts.limits(
            email, from: remote, on: deviceSecret.map(DeviceSecrets.hash), isKnownAddress: isKnownAddress)
        try await Attempts.countOrThrow([ownLimit] + sharedLimits, at: now, services.database)

        let hash: String? = try row.flatMap { row in try row["password_hash"] }
        let (password, purpose) = (
            call.body.password.wireText, sharedLimits.isEmpty ? PasswordHashing.Purpose.knownSignIn : .signIn
        )
        let match = try await Attempts.refundingOnFailure([ownLimit] + sharedLimits, at: now, services.database) {
            try await services.hashing.match(of: password, with: hash, purpose, for: remote)
        }
        let person = try row.map(Person.init)
        guard match != .none, let person else {
            return try await refuse(
                context, person, method: "password", APIError.signInIsWrong)
        }
        return try await Attempts.refundingOnFailure([ownLimit] + sharedLimits, at: now, services.database) {
            var statements = [AttemptStatements.resetAfterSuccess(ownLimit, sharedLimits)]
            if match == .asTyped {
                let newHash = try await services.hashing.hash(password, purpose, for: remote)
                statements.append(AccountStatements.replacePasswordHash(of: person.id, hash, by: newHash))
            }
            let passwordSetAt: Timestamp? = try row?["password_set_at"]
            let statement = AccountStatements.byEmail(email, from: [], at: now, chain: person.chain)
            return try await begin(
                context, makeSession(for: person, on: deviceSecret, context), for: person, method: "password",
                refusal: APIError.signInIsWrong, statements + knownAddressStatements(of: person.id, email, context)
            ) { queries in
                // A new password ends all sessions: none may begin with the one that was checked before.
                guard let row = try await queries.query(statement).first, try row["id"] == person.id,
                    try row["password_set_at"] == passwordSetAt, try Person(row).chain == person.chain
                else { return nil }
                return .rightsUnchanged(since: try row["seq"])
            }
        }
    }

    /// Returns the parts of an act that record that the account has used the network address of this request.
    func knownAddressStatements(of user: UserID, _ email: String, _ context: CallContext) -> [SQL] {
        KnownAddresses.hashes(email, context.remote, services.tokens).prefix(1).map {
            KnownAddressStatements.insert($0, of: user, at: context.now)
        }
    }

    /// Begins a session with a family's child code, and a child's user name and PIN.
    ///
    /// Whichever part is wrong, the answer and the work are the same.
    package func childLogIn(_ context: CallContext, _ call: Call<NoParameters, ChildLoginRequest>) async throws
        -> AuthResponse
    {
        let (now, code, username) = (context.now, call.body.familyCode, call.body.username)
        let statement = CredentialStatements.children(childCode: code)
        let row = try ChildUsername.find(username, in: try await services.database.query(statement))
        let person = try row.map(Person.init)
        let addressLimit = Attempts.Limit.address(context.remote)
        let attempts = person.map { PINAttempts.forChild($0.id) } ?? .forUnknownChild(username, code: code)
        try await Attempts.countOrThrow([addressLimit], at: now, services.database)
        let hash: String? = try row.flatMap { row in try row["pin_hash"] }
        let (isRight, lockoutEnd) = try await Attempts.refundingOnFailure([addressLimit], at: now, services.database) {
            let lockoutEnd = try await attempts.countOrThrow(at: now, services.database)
            let isRight = try await attempts.refundingOnFailure(services.database) {
                try await services.hashing.matches(
                    call.body.pin.wireText, against: hash, .childSignIn, for: context.remote)
            }
            return (isRight, lockoutEnd)
        }
        guard isRight, let person else {
            return try await refuse(
                context, person, method: "child_code", lockedUntil: lockoutEnd, APIError.childSignInIsWrong)
        }
        return try await Attempts.refundingOnFailure([addressLimit], at: now, services.database) {
            try await attempts.refundingOnFailure(services.database) {
                try await begin(
                    context, makeSession(for: person, isChild: true, context), for: person, method: "child_code",
                    refusal: APIError.childSignInIsWrong,
                    [PINAttemptStatements.reset(attempts), AttemptStatements.resetAfterSuccess(nil, [addressLimit])]
                ) { queries in
                    // Code, name or PIN may have changed while the PIN was checked.
                    guard let row = try ChildUsername.find(username, in: try await queries.query(statement)),
                        try row["id"] == person.id, try row["pin_hash"] == hash
                    else { return nil }
                    return .rightsUnchanged(since: try row["seq"])
                }
            }
        }
    }

    /// Commits the act that begins a session.
    /// - Parameters:
    ///   - method: how the person has signed in: `password` or `child_code`.
    ///   - basis: returns the condition that must still hold at the commit; nil refuses the sign-in.
    private func begin(
        _ context: CallContext, _ newSession: NewSession, for person: Person, method: String, refusal: APIError,
        _ statements: [SQL], on basis: (any Queries) async throws -> Act.Basis?
    ) async throws -> AuthResponse {
        try await services.ledger.write(context, in: person.chain) { queries in
            guard let basis = try await basis(queries) else {
                return .refuse(failedAttemptAct(person, method: method), refusal)
            }
            let act = Act(
                kind: .sessionOpened, basis: basis, actor: person.pseudonym,
                subject: person.pseudonym, resource: newSession.id.retyped(), details: ["method": method],
                stampedRows: 0, statements: newSession.statements + statements)
            return .perform(act, newSession.answer)
        }
    }

    /// Answers 401, and records the failed attempt in the audit log without the name and the secret that were tried.
    private func refuse(
        _ context: CallContext, _ person: Person?, method: String, lockedUntil: Timestamp? = nil, _ refusal: APIError
    ) async throws -> AuthResponse {
        var act = failedAttemptAct(person, method: method)
        if person != nil { act.recordLockout(until: lockedUntil) }
        return try await services.ledger.write(context, in: person?.chain ?? .outside) { _ in .refuse(act, refusal) }
    }

    /// Returns the act that records a failed attempt.
    private func failedAttemptAct(_ person: Person?, method: String) -> Act {
        Act(
            kind: .signInFailed, basis: .nothing, actor: SystemActor.guest, subject: person?.pseudonym,
            details: ["method": method], stampedRows: 0)
    }
}
