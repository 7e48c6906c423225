import Audit
import Contract
import Domain
import Postgres
import SQL

extension Sessions {
    /// Begins a session for an email and its password.
    ///
    /// An unknown email and a wrong password get the same answer after the same work.
    func logIn(_ call: Call<NoParameters, LoginRequest>) async throws -> AuthResponse {
        let email = call.body.email.wireText
        let address = Attempts.Limit.address(call.context.remote)
        let account = [Attempts.Limit.account(email, from: call.context.remote), .account(email)]
        try await Attempts.count(account + [address], at: call.now, backend.database)

        let row = try await backend.database.query(AccountStatements.byEmail(email)).first
        let hash: String? = try row.flatMap { row in try row["password_hash"] }
        let isRight = try await backend.hashing.verify(call.body.password.wireText, against: hash)
        let person = try row.map(Person.init)
        guard isRight, let person else {
            return try await refuse(
                call.context, person, method: "password",
                APIError(.authenticationFailed, "The email or the password is wrong."))
        }
        let opening = opening(
            call.context, for: person, method: "password",
            [AttemptStatements.forget(account), AttemptStatements.takeBack(address)])
        return try await backend.ledger.write(call.context, in: person.chain) { _ in
            .perform(opening.act, opening.answer)
        }
    }

    /// Begins a session for a child's user name and PIN in the family with that child code.
    ///
    /// Whichever part is wrong, the answer and the work are the same.
    func childLogIn(_ call: Call<NoParameters, ChildLoginRequest>) async throws -> AuthResponse {
        let (code, username) = (call.body.familyCode, call.body.username)
        let row = try await backend.database.query(CredentialStatements.find(username, code: code)).first
        let person = try row.map(Person.init)
        let address = Attempts.Limit.address(call.context.remote)
        let limit = person.map { .pin(of: $0.id) } ?? Attempts.Limit.pin(ofNobody: username, code: code)
        try await Attempts.count([limit, address], at: call.now, backend.database)

        let hash: String? = try row.flatMap { row in try row["pin_hash"] }
        let isRight = try await backend.hashing.verify(call.body.pin.wireText, against: hash)
        guard isRight, let person else {
            return try await refuse(call.context, person, method: "child_code", Self.wrongChildSignIn)
        }
        let opening = opening(
            call.context, for: person, isChild: true, method: "child_code",
            [AttemptStatements.forget([limit]), AttemptStatements.takeBack(address)])
        return try await backend.ledger.write(call.context, in: person.chain) { queries in
            // The code, the name or the PIN may have been replaced while the PIN was checked.
            let row = try await queries.query(CredentialStatements.find(username, code: code)).first
            guard let row, try row["id"] == person.id, try row["pin_hash"] == hash else {
                return .refuse(failedAttempt(person, method: "child_code"), Self.wrongChildSignIn)
            }
            var act = opening.act
            act.basis = .nothingChanged(since: try row["seq"])
            return .perform(act, opening.answer)
        }
    }

    private static let wrongChildSignIn = APIError(
        .authenticationFailed, "The family code, the name or the PIN is wrong.")

    /// The act that opens a session, and what it answers.
    private func opening(
        _ context: CallContext, for person: Person, isChild: Bool = false, method: String, _ rows: [SQL]
    ) -> (act: Act, answer: AuthResponse) {
        let opening = opening(for: person, isChild: isChild, at: context.now)
        let act = Act(
            kind: "session.opened", basis: .nothing, actor: person.pseudonym, subject: person.pseudonym,
            resource: opening.id.retyped(), details: ["method": method], stampedRows: 0, rows: opening.rows + rows)
        return (act, opening.answer)
    }

    /// Answers 401 and puts the failed attempt on the trail, without what was tried.
    private func refuse(
        _ context: CallContext, _ person: Person?, method: String, _ refusal: APIError
    ) async throws -> AuthResponse {
        let act = failedAttempt(person, method: method)
        return try await backend.ledger.write(context, in: person?.chain ?? .outside) { _ in .refuse(act, refusal) }
    }

    private func failedAttempt(_ person: Person?, method: String) -> Act {
        Act(
            kind: "sign_in.failed", basis: .nothing, actor: SystemActor.guest, subject: person?.pseudonym,
            details: ["method": method], stampedRows: 0)
    }
}
