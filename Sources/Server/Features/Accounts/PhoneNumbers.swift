import Audit
import Contract
import Domain
import Postgres
import SQL

/// Changes of the telephone number that receives a person's text messages.
///
/// A code that is sent to the new number proves that the person can read its messages. The earlier number is not
/// notified, because it may belong to somebody else by now. Several accounts may have the same number, so that nobody
/// can find out who has it.
final class PhoneNumbers {
    private let services: Services
    private let me: Me

    init(_ services: Services, _ me: Me) { (self.services, self.me) = (services, me) }

    /// Registers operations of the tag `accounts`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.requestPhone, requestCode)
        routes.signedIn(API.confirmPhone, confirm)
        routes.signedIn(API.deletePhone, remove)
    }

    /// Sends a code to the new number, after a check of the caller's password.
    /// - Throws: 403 for a child, and for an account that was made in a family; 409 where the server sends no text
    ///   messages.
    func requestCode(_ caller: Caller, _ call: Call<NoParameters, PhoneRequest>) async throws -> StatusAnswer {
        // A retry sends no second code, because only the first one was stored.
        if let earlier: StatusAnswer = try await services.ledger.replayEarlierAnswer(caller) { return earlier }
        let (phone, now) = (call.body.phone, caller.now)
        let account = try await services.access.account(caller, services.database)
        let email = try account.requireAdultEmail()
        guard let textMessenger = services.textMessenger else { throw APIError.phoneCodesAreNotConfigured }
        let chain = account.chain
        let code = PhoneCodes.make(services.random)
        let hash = PhoneCodes.hashes(code, of: account.id, for: phone.wireText, services.tokens)[0]
        let limits = [Attempts.Limit.phoneCodes(to: phone, services.tokens), .phoneCodesOverall]
        let answer = try await services.withConfirmedPassword(
            call.body.password, of: account, email, caller, in: chain
        ) { attemptRefund in
            try await Attempts.countOrThrow(limits, at: now, services.database)
            return try await Attempts.refundingOnFailure(limits, at: now, services.database) {
                try await services.ledger.write(caller, in: chain) { queries in
                    let seq = try await Ledger.newestSequenceNumber(of: chain, queries)
                    let account = try await requireAdult(caller, in: chain, queries)
                    let count = DailyCount(limit: .phoneCodeRequests, user: caller.userID)
                    let act = Act(
                        kind: .accountPhoneRequested, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                        subject: account.pseudonym, stampedRows: 0,
                        statements: [
                            PhoneCodeStatements.store(hash, of: account.id, for: phone, at: now),
                            try await count.checkedIncrement(at: now, queries), attemptRefund,
                        ])
                    return .perform(act, StatusAnswer(status: "accepted"))
                }
            }
        }
        if caller.isResponseReplayed {
            // A concurrent request with the same idempotency key has stored its own code.
            try? await Attempts.refund(limits, at: now, services.database)
        } else {
            textMessenger.send(code: code, to: phone)
        }
        return answer
    }

    /// Sets the number with the code that was sent to it.
    func confirm(_ caller: Caller, _ call: Call<NoParameters, PhoneConfirmation>) async throws -> MeResponse {
        // The stored answer contains no number, so the response is read again.
        let earlier: NoAnswer? = try await services.ledger.replayEarlierAnswer(caller)
        if earlier == nil { try await setPhoneNumber(caller, call.body.code, at: caller.now) }
        return try await me.response(for: caller)
    }

    private func setPhoneNumber(_ caller: Caller, _ code: PhoneCode, at now: Timestamp) async throws {
        let database = services.database
        let account = try await services.access.account(caller, database)
        _ = try account.requireAdultEmail()
        let chain = account.chain
        // The attempt is counted before the code is compared, so that concurrent attempts cannot exceed the limit.
        guard let row = try await database.query(PhoneCodeStatements.countAttempt(of: account.id, at: now)).first else {
            throw APIError.phoneCodeIsInvalid
        }
        let (phone, hash): (String, [UInt8]) = (try row["phone"], try row["code_hash"])
        let hashes = PhoneCodes.hashes(code.wireText, of: account.id, for: phone, services.tokens)
        guard hashes.contains(where: { areEqual($0, hash) }) else { throw APIError.phoneCodeIsInvalid }
        let _: NoAnswer = try await services.ledger.write(caller, in: chain) { queries in
            let seq = try await Ledger.newestSequenceNumber(of: chain, queries)
            let account = try await requireAdult(caller, in: chain, queries)
            let statement = PhoneCodeStatements.phoneOfCode(of: account.id, hash, at: now)
            guard let row = try await queries.query(statement).first else { throw APIError.phoneCodeIsInvalid }
            let act = Act(
                kind: .accountPhoneChanged, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: account.pseudonym, stampedRows: 0,
                statements: [
                    AccountStatements.setPhone(of: account.id, try row["phone"]),
                    PhoneCodeStatements.delete(of: account.id),
                ])
            return .perform(act, NoAnswer())
        }
    }

    /// Removes the number and any unused code. Without a number and a code, nothing is changed.
    func remove(_ caller: Caller, _ call: Call<NoParameters, NoBody>) async throws -> NoAnswer {
        let chain = try await services.access.account(caller, services.database).chain
        return try await services.ledger.write(caller, in: chain) { queries in
            let seq = try await Ledger.newestSequenceNumber(of: chain, queries)
            let account = try await services.access.account(caller, queries)
            guard account.chain == chain else { throw APIError.accountChangedFamily }
            let phone: String? = try await queries.query(AccountStatements.profile(account.id)).onlyRow()["phone"]
            let hasCode = try await !queries.query(PhoneCodeStatements.exists(of: account.id)).isEmpty
            guard phone != nil || hasCode else { return .answer(NoAnswer()) }
            let act = Act(
                kind: .accountPhoneRemoved, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: account.pseudonym, stampedRows: 0,
                statements: [
                    AccountStatements.setPhone(of: account.id, nil), PhoneCodeStatements.delete(of: account.id),
                ])
            return .perform(act, NoAnswer())
        }
    }

    /// Returns the caller's account.
    /// - Throws: a refusal unless the caller is an adult whose chain is still `chain`.
    private func requireAdult(_ caller: Caller, in chain: FamilyID, _ queries: any Queries) async throws -> Account {
        let account = try await services.access.account(caller, queries)
        _ = try account.requireAdultEmail()
        guard account.chain == chain else { throw APIError.accountChangedFamily }
        return account
    }
}

extension Account {
    /// Returns the email address that the account signs in with.
    /// - Throws: 403 for a child, and for an account that was made in a family.
    fileprivate func requireAdultEmail() throws(APIError) -> String {
        guard role != .child, let email else { throw APIError(.authorizationDenied, .phonesForAdultsOnly) }
        return email
    }
}
