import Audit
import Contract
import Domain
import Postgres
import SQL

/// Changes of the email address that an account signs in with.
///
/// A code that is sent to the new address proves that the person can read it. The old address is notified.
final class EmailChanges {
    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers operations of the tag `accounts`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.requestEmailChange, requestCode)
        routes.signedIn(API.confirmEmailChange, confirm)
    }

    /// Sends a code to the new address, after a check of the caller's password.
    /// - Throws: 403 for an account that was made in a family; 409 where the server sends no mail, and for an address
    ///   that has an account.
    func requestCode(_ caller: Caller, _ call: Call<NoParameters, EmailChangeRequest>) async throws -> StatusAnswer {
        // A retry sends no second code, because only the first one was stored.
        if let earlier: StatusAnswer = try await services.ledger.replayEarlierAnswer(caller) { return earlier }
        let (newEmail, now) = (call.body.email.wireText, caller.now)
        let account = try await services.access.account(caller, services.database)
        guard let mailer = services.mailer else { throw APIError.mailIsNotConfigured }
        let code = AccountCodes.make(services.random)
        let answer = try await services.withConfirmedPassword(
            call.body.password, of: account, try account.requireEmail(), caller, in: account.chain
        ) { attemptRefund in
            try await services.writeToOwnChain(caller) { account, seq, queries in
                guard try await queries.query(AccountStatements.idByEmail(newEmail)).isEmpty else {
                    throw APIError.emailIsTaken
                }
                let count = DailyCount(limit: .emailChangeRequests, user: caller.userID)
                let act = Act(
                    kind: .emailChangeRequested, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                    subject: account.pseudonym, stampedRows: 0,
                    statements: [
                        AccountCodeStatements.insert(
                            code, for: .emailChange, of: account.id, newEmail: newEmail, at: now),
                        try await count.checkedIncrement(at: now, queries), attemptRefund,
                    ])
                return .perform(act, StatusAnswer(status: "accepted"))
            }
        }
        // Of two concurrent requests with the same idempotency key, only the code of the first was stored.
        if !caller.isResponseReplayed { mailer.send(.emailConfirmation(code: code), to: newEmail) }
        return answer
    }

    /// Changes the account's address to the one that the code was sent to.
    /// - Throws: 409 if the address has got an account in the meantime, 422 for an invalid code.
    func confirm(
        _ caller: Caller, _ call: Call<NoParameters, EmailChangeConfirmation>
    ) async throws -> AccountResponse {
        // On a retry the account has the new address already, which must not get the mail for the old one.
        if let earlier: AccountResponse = try await services.ledger.replayEarlierAnswer(caller) { return earlier }
        let now = caller.now
        let account = try await services.access.account(caller, services.database)
        let (oldEmail, chain) = (try account.requireEmail(), account.chain)
        let statement = AccountCodeStatements.owner(call.body.code, for: .emailChange, at: now, chain: chain)
        let decide = { (queries: any Queries) async throws -> Decision<AccountResponse> in
            let account = try await self.services.access.account(caller, queries)
            guard let row = try await queries.query(statement).first, let newEmail: String = try row["new_email"] else {
                throw APIError.accountCodeIsInvalid
            }
            var person = try Person(row)
            guard person.id == caller.userID else { throw APIError.accountCodeIsInvalid }
            guard person.chain == chain else { throw APIError.accountChangedFamily }
            person.email = newEmail
            let act = Act(
                kind: .emailChanged, basis: .nothingChanged(since: try row["seq"]), actor: account.pseudonym,
                subject: account.pseudonym, changesRights: true, stampedRows: 0,
                statements: [
                    AccountStatements.setEmail(of: person.id, newEmail), AccountCodeStatements.deleteAll(of: person.id),
                    // The digests of known addresses are made from the email address too.
                    KnownAddressStatements.deleteAll(of: person.id),
                ])
            return .perform(act, AccountResponse(person))
        }
        let answer: AccountResponse
        do {
            answer = try await services.ledger.write(caller, in: chain, decide)
        } catch let error as PostgresError where error.violates(.emailAddress) {
            throw APIError.emailIsTaken
        }
        if !caller.isResponseReplayed { services.mailer?.send(.emailChanged, to: oldEmail) }
        return answer
    }
}
