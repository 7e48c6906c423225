import Audit
import Contract
import Domain
import Postgres
import SQL

/// New passwords: set by people who know the old one, or with a code.
///
/// A new password ends the account's sessions, except the one that changes it, and deletes its codes and its known
/// network addresses. A change also deletes the secrets of other devices. A reset by code keeps them: without them,
/// strangers could lock out the person who has just set the password. A secret allows no more guesses than an address
/// does.
final class Passwords {
    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers routes of the groups `accounts` and `auth`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.changePassword, change)
        routes.open(API.requestPasswordReset, requestReset)
        routes.open(API.resetPassword, reset)
    }

    // MARK: With the old password

    /// Changes the caller's password, if they know the current one. Attempts are limited and counted as at sign-in.
    func change(_ caller: Caller, _ call: Call<NoParameters, PasswordChange>) async throws -> NoAnswer {
        if let earlier: NoAnswer = try await services.ledger.replayEarlierAnswer(caller) { return earlier }
        let (body, now) = (call.body, caller.now)
        let account = try await services.access.account(caller, services.database)
        let email = try account.requireEmail()
        let isAdmin = account.isAdmin
        try Self.requireStrengthIfAdmin(body.newPassword, isAdmin: isAdmin, email)
        let chain = account.chain
        let statement = AccountStatements.passwordSetAt(account.id)
        let passwordSetAt: Timestamp? = try await services.database.query(statement).onlyRow()["password_set_at"]
        let _: NoAnswer = try await services.withConfirmedPassword(
            body.password, of: account, email, caller, in: chain
        ) { attemptRefund in
            let hash = try await services.hashing.hash(body.newPassword.wireText, .credentials, for: caller.userID)
            return try await services.ledger.write(caller, in: chain) { queries in
                let seq = try await Ledger.newestSequenceNumber(of: chain, queries)
                let account = try await services.access.account(caller, queries)
                guard account.chain == chain else { throw APIError.accountChangedFamily }
                // The password that was checked may have been replaced in the meantime.
                guard try await queries.query(statement).onlyRow()["password_set_at"] == passwordSetAt else {
                    throw APIError.passwordHasChanged
                }
                var act = Self.passwordChangeAct(
                    on: account.id, account.pseudonym, by: account.pseudonym, method: "password",
                    basis: .nothingChanged(since: seq), hash, except: caller.sessionID, at: now)
                act.statements += [
                    attemptRefund, DeviceSecretStatements.deleteAll(of: account.id, except: caller.sessionID),
                ]
                return .perform(act, NoAnswer())
            }
        }
        if !caller.isResponseReplayed { services.mailer?.send(.passwordChanged, to: email) }
        return NoAnswer()
    }

    // MARK: With a code

    /// Sends a code to the account of that address, if there is one with a password and it has not got too many codes.
    ///
    /// An address without an account gets the same response after the same work, and one entry in the audit log too.
    /// Administrators get no code: their operator makes one at the command line.
    func requestReset(_ context: CallContext, _ call: Call<NoParameters, PasswordResetRequest>) async throws
        -> StatusAnswer
    {
        guard let mailer = services.mailer else { throw APIError.mailIsNotConfigured }
        let (email, now) = (call.body.email.wireText, context.now)
        try await Attempts.countOrThrow([.resets(from: context.remote)], at: now, services.database)
        let isWithinLimit = try await Attempts.countIfAllowed(.resets(of: email), at: now, services.database)
        let row = try await services.database.query(AccountStatements.byEmail(email, from: [], at: now)).first
        let hash: String? = try row?["password_hash"]
        let person = try row.map(Person.init)
        let accepted = StatusAnswer(status: "accepted")
        guard isWithinLimit, hash != nil, let person, !person.isAdmin else {
            let act = Act(
                kind: .passwordResetRequested, basis: .nothing, actor: SystemActor.guest,
                details: ["code_created": "false"], stampedRows: 0)
            return try await services.ledger.write(context, in: .outside) { _ in .perform(act, accepted) }
        }
        let code = AccountCodes.make(services.random)
        let act = Self.codeCreationAct(code, for: person, by: SystemActor.guest, at: now)
        let answer = try await services.ledger.write(context, in: person.chain) { _ in .perform(act, accepted) }
        mailer.send(.passwordReset(code: code), to: email)
        return answer
    }

    /// Sets a new password with a code.
    func reset(_ context: CallContext, _ call: Call<NoParameters, PasswordReset>) async throws -> NoAnswer {
        let (body, now) = (call.body, context.now)
        let ownerRow = try await services.database.query(
            AccountCodeStatements.owner(body.code, for: .passwordReset, at: now)
        ).first
        guard let person = try ownerRow.map(Person.init), let email = person.email else {
            throw APIError.accountCodeIsInvalid
        }
        try Self.requireStrengthIfAdmin(body.newPassword, isAdmin: person.isAdmin, email)
        let hash = try await services.hashing.hash(body.newPassword.wireText, .credentials, for: person.id)
        let chain = person.chain
        let statement = AccountCodeStatements.owner(body.code, for: .passwordReset, at: now, chain: chain)
        let answer: NoAnswer = try await services.ledger.write(context, in: chain) { queries in
            guard let row = try await queries.query(statement).first else { throw APIError.accountCodeIsInvalid }
            let person = try Person(row)
            guard person.chain == chain else { throw APIError.accountChangedFamily }
            let act = Self.passwordChangeAct(
                on: person.id, person.pseudonym, by: person.pseudonym, method: "code",
                basis: .nothingChanged(since: try row["seq"]), hash, except: nil, at: now)
            return .perform(act, NoAnswer())
        }
        services.mailer?.send(.passwordChanged, to: email)
        return answer
    }

    // MARK: Acts

    /// Returns the act that stores a new code for a password reset.
    static func codeCreationAct(_ code: String, for person: Person, by actor: Pseudonym, at now: Timestamp) -> Act {
        Act(
            kind: .passwordResetRequested, basis: .nothing, actor: actor, subject: person.pseudonym,
            details: ["code_created": "true"], stampedRows: 0,
            statements: [AccountCodeStatements.insert(code, for: .passwordReset, of: person.id, at: now)])
    }

    /// Returns the act that sets a password.
    /// - Parameter method: how the person proved who they are: `password` or `code`.
    private static func passwordChangeAct(
        on user: UserID, _ subject: Pseudonym, by actor: Pseudonym, method: String, basis: Act.Basis, _ hash: String,
        except session: SessionID?, at now: Timestamp
    ) -> Act {
        Act(
            kind: .passwordChanged, basis: basis, actor: actor, subject: subject, details: ["method": method],
            changesRights: true, stampedRows: 0,
            statements: [
                AccountStatements.setPassword(of: user, hash, at: now),
                SessionStatements.revokeAll(of: user, except: session, at: now),
                AccountCodeStatements.deleteAll(of: user), PhoneCodeStatements.delete(of: user),
                KnownAddressStatements.deleteAll(of: user),
            ])
    }

    /// Requires that an administrator's password is strong enough (`Admins.weakness`). It accepts any other person's.
    private static func requireStrengthIfAdmin(_ password: Secret, isAdmin: Bool, _ email: String) throws(APIError) {
        guard isAdmin, let weakness = Admins.weakness(of: password.wireText, email: email) else { return }
        throw APIError.passwordIsWeak(weakness)
    }
}

extension Account {
    /// Returns the email address that the account signs in with.
    /// - Throws: 403 for an account that was made in a family.
    func requireEmail() throws(APIError) -> String {
        guard let email else { throw APIError.accountHasNoPassword }
        return email
    }
}
