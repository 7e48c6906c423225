import Audit
import Contract
import Domain
import Postgres

extension Families {
    /// Takes an account into the family, on a guardian's word.
    ///
    /// A child needs the family's consent to children's accounts. An account that waits for a guardian (somebody under
    /// 13) can only become a child, and is active from then on.
    func addMember(_ caller: Caller, _ call: Call<FamilyPath, MemberAdd>) async throws -> MemberResponse {
        let (family, role, now) = (call.parameters.familyID, call.body.role, call.now)
        return try await admitting {
            try await backend.ledger.write(caller, in: family) { queries in
                let member = try await backend.access.member(caller, of: family, queries)
                if let denial = member.denial(of: .addMember) {
                    return .denied("member.add.denied", to: member, denial)
                }
                let rows = try await queries.query(AccountStatements.byID(call.body.userID))
                guard let person = try rows.first.map(Person.init) else {
                    throw APIError(.notFound, "There is no such account.")
                }
                guard person.membership == nil else { throw Self.alreadyInFamily }
                let isWaiting = person.status == AccountStatus.pendingGuardianConsent.rawValue
                if isWaiting, role != .child {
                    return .denied(
                        "member.add.denied", to: member, reason: "under_13", subject: person.pseudonym,
                        APIError(.policyForbidden, "Somebody under 13 can only be added as a child."))
                }
                if role == .child, try await !allowsChildren(member, queries) {
                    return .denied(
                        "member.add.denied", to: member, reason: "no_consent", subject: person.pseudonym,
                        Self.childrenNeedConsent)
                }
                let act = Act(
                    kind: "member.added", basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                    subject: person.pseudonym, details: ["role": role.rawValue], changesRights: true, stampedRows: 0,
                    rows: admission(of: person.id, as: role, at: now, isGuardiansWord: true)
                        + (isWaiting ? [AccountStatements.activate(person.id)] : []))
                return .perform(
                    act,
                    MemberResponse(userID: person.id, familyID: family, role: role, status: .active, joinedAt: now))
            }
        }
    }

    /// Makes an account inside the family: for a child as a rule, who then signs in with a user name and a PIN.
    func createMember(_ caller: Caller, _ call: Call<FamilyPath, MemberCreateAndAdd>) async throws -> MemberDetail {
        let (family, now, body) = (call.parameters.familyID, call.now, call.body)
        try Self.checkLogin(body)
        let creator = try await backend.access.member(caller, of: family, backend.database)
        var login: (username: String, hash: String)?
        if creator.role == .guardian, let username = body.username, let pin = body.pin {
            login = (username, try await backend.hashing.hash(pin.wireText))
        }
        // Who was no guardian a moment ago gets no member without the login they asked for.
        let isPrepared = (login == nil) == (body.username == nil)
        let person = Person(
            id: backend.random.identifier(at: now), pseudonym: backend.random.identifier(at: now), email: nil,
            displayName: body.displayName, status: .active, createdAt: now)
        return try await namingChild {
            try await backend.ledger.write(caller, in: family) { queries in
                let member = try await backend.access.member(caller, of: family, queries)
                guard isPrepared, member.denial(of: .createMember) == nil else {
                    return .denied("member.create.denied", to: member, .guardianOnly)
                }
                if body.role == .child, try await !allowsChildren(member, queries) {
                    return .denied("member.create.denied", to: member, reason: "no_consent", Self.childrenNeedConsent)
                }
                var act = Act(
                    kind: "member.created", basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                    subject: person.pseudonym,
                    details: ["role": body.role.rawValue, "child_login": "\(login != nil)"], changesRights: true,
                    stampedRows: 0, rows: [AccountStatements.insert(person, passwordHash: nil, dateOfBirth: nil)])
                act.rows += admission(of: person.id, as: body.role, at: now)
                if let login {
                    act.rows.append(
                        CredentialStatements.set(login.username, pinHash: login.hash, for: person.id, at: now))
                }
                return .perform(
                    act,
                    MemberDetail(
                        userID: person.id, displayName: person.displayName, familyID: family, role: body.role,
                        status: .active, joinedAt: now, hasChildLogin: login != nil))
            }
        }
    }

    private static func checkLogin(_ body: MemberCreateAndAdd) throws(InvalidInput) {
        guard (body.username == nil) == (body.pin == nil) else {
            throw InvalidInput(
                "is required: a user name and a PIN come together", field: body.pin == nil ? "pin" : "username")
        }
        guard body.username == nil || body.role == .child else {
            throw InvalidInput("is for children only", field: "username")
        }
    }

    private static let childrenNeedConsent = APIError(
        .policyForbidden, "Before a child can be added, a guardian must consent to children's accounts in this family.")

    private func allowsChildren(_ member: Member, _ queries: any Queries) async throws -> Bool {
        try await queries.query(
            ConsentStatements.isInForce(.childAccountCreation, for: member.userID, in: member.familyID)
        ).one()["is_in_force"]
    }
}
