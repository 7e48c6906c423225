import Audit
import Contract
import Domain
import Postgres
import SQL

extension Families {
    /// Makes a participant a guardian, or readmits an account that was made in this family.
    ///
    /// Nobody is added without agreeing: people with a sign-in of their own join with the invite code, and only then
    /// can a guardian give them another role. Accounts that were made in another family cannot be added.
    package func addMember(_ caller: Caller, _ call: Call<FamilyPath, MemberAdd>) async throws -> MemberResponse {
        let (family, user, role) = (call.parameters.familyID, call.body.userID, call.body.role)
        return try await mappingMembershipConflict {
            try await services.ledger.write(caller, in: family) { queries in
                let member = try await services.access.member(caller, of: family, queries)
                if let denial = member.denial(of: .addMember) {
                    return .denied(.memberAddDenied, to: member, denial)
                }
                let rows = try await queries.query(
                    MembershipStatements.candidate(user, for: family, by: member.userID))
                guard let person = try rows.first.map(Candidate.init) else { throw APIError.noSuchAccount }
                guard let current = person.role else {
                    return try await decideReadmission(person, as: role, by: member, at: caller.now, queries)
                }
                if current == role { throw APIError.memberHasRole }
                if let denial = RoleMatrix.denialOfRoleChange(from: current, to: role) {
                    return .denied(
                        .memberAddDenied, to: member, reason: denial.rawValue, subject: person.pseudonym,
                        APIError(.policyForbidden, denial))
                }
                let response = MemberResponse(
                    userID: user, familyID: family, role: role, status: .active,
                    joinedAt: person.joinedAt ?? caller.now)
                return .perform(promotionAct(person, by: member, at: caller.now), response)
            }
        }
    }

    /// Returns the act that makes a participant a guardian. Consents that they gave for themselves would now hold for
    /// the whole family, so the act revokes them; they can be given again.
    private func promotionAct(_ person: Candidate, by member: Member, at now: Timestamp) -> Act {
        Act(
            kind: .memberRoleChanged, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            subject: person.pseudonym,
            details: ["from": FamilyRole.participant.rawValue, "role": FamilyRole.guardian.rawValue],
            changesRights: true, stampedRows: 0,
            statements: [
                MembershipStatements.promoteToGuardian(person.id),
                ConsentStatements.revokeInActFamily(of: person.id, at: now),
                DraftStatements.expireWithoutConsent(remainingConsents: "consent.user_id <> \(person.id)", at: now),
            ])
    }

    /// Decides whether an account becomes a member again. Only an account that was made in this family can. A child
    /// needs the family's consent to children's accounts. An account that waits for a guardian can only be a child, and
    /// becomes active.
    private func decideReadmission(
        _ person: Candidate, as role: FamilyRole, by member: Member, at now: Timestamp, _ queries: any Queries
    ) async throws -> Decision<MemberResponse> {
        // A family's audit log does not name accounts that were made elsewhere.
        let subject = person.isFamilyAccount ? person.pseudonym : nil
        func denied(_ reason: String, _ refusal: APIError) -> Decision<MemberResponse> {
            .denied(.memberAddDenied, to: member, reason: reason, subject: subject, refusal)
        }
        if let denial = RoleMatrix.denialOfAdmission(
            isFamilyAccount: person.isFamilyAccount, isBlocked: person.isBlocked)
        {
            return denied(denial.rawValue, APIError(.policyForbidden, denial))
        }
        if person.isWaiting, role != .child {
            return denied(
                "under_13", APIError.under13IsChild)
        }
        if role == .child, try await !allowsChildAccounts(for: member.userID, in: member.familyID, queries) {
            return denied("no_consent", APIError.childrenNeedConsent)
        }
        if let denial = try await denialOfNewMember(of: member.familyID, at: now, queries) {
            return denied(denial.rawValue, APIError(.policyForbidden, denial))
        }
        let act = Act(
            kind: .memberAdded, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            subject: person.pseudonym, details: ["role": role.rawValue, "user": person.id.description],
            changesRights: true, stampedRows: 0,
            statements: admission(
                of: person.id, as: role, at: now, isWaiting: person.isWaiting, isGuardiansDecision: true))
        return .perform(
            act,
            MemberResponse(userID: person.id, familyID: member.familyID, role: role, status: .active, joinedAt: now))
    }

    /// Creates an account inside the family, usually for a child, who can get a user name and a PIN to sign in.
    package func createMember(_ caller: Caller, _ call: Call<FamilyPath, MemberCreateAndAdd>) async throws
        -> MemberDetail
    {
        try await createMember(caller, call, id: services.random.identifier(at: caller.now))
    }

    /// Creates an account inside the family, with a given ID.
    /// - Parameter id: the new member's ID, which only seeds choose themselves.
    package func createMember(
        _ caller: Caller, _ call: Call<FamilyPath, MemberCreateAndAdd>, id: UserID
    ) async throws -> MemberDetail {
        let (family, now, body) = (call.parameters.familyID, caller.now, call.body)
        try Self.checkLogin(body)
        let creator = try await services.access.member(caller, of: family, services.database)
        var login: (username: String, pinHash: String)?
        if creator.role == .guardian, let username = body.username, let pin = body.pin {
            login = (username, try await services.hashing.hash(pin.wireText, .credentials, for: caller.userID))
        }
        // False if the request has a user name, but the PIN was not hashed because the caller was no guardian then. The
        // member is not created without the requested sign-in.
        let isLoginReady = (login == nil) == (body.username == nil)
        let person = Person(
            id: id, pseudonym: services.random.identifier(at: now), email: nil,
            displayName: body.displayName, status: .active, createdAt: now)
        return try await mappingUsernameConflict {
            try await services.ledger.write(caller, in: family) { queries in
                let member = try await services.access.member(caller, of: family, queries)
                guard isLoginReady, member.denial(of: .createMember) == nil else {
                    return .denied(.memberCreateDenied, to: member, .guardianOnly)
                }
                if let denial = try await denialOfNewMember(of: family, at: now, makesAccount: true, queries) {
                    return .denied(
                        .memberCreateDenied, to: member, reason: denial.rawValue,
                        APIError(.policyForbidden, denial))
                }
                if body.role == .child, try await !allowsChildAccounts(for: member.userID, in: family, queries) {
                    return .denied(.memberCreateDenied, to: member, reason: "no_consent", APIError.childrenNeedConsent)
                }
                var act = Act(
                    kind: .memberCreated, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                    subject: person.pseudonym,
                    details: [
                        "role": body.role.rawValue, "child_login": "\(login != nil)", "user": person.id.description,
                    ],
                    changesRights: true, stampedRows: 0,
                    statements: [
                        AccountStatements.insert(person, passwordHash: nil, dateOfBirth: nil, madeIn: family)
                    ])
                act.statements += admission(of: person.id, as: body.role, at: now)
                if let login {
                    try await ChildUsername.requireFree(login.username, for: person.id, in: family, queries)
                    act.statements.append(
                        CredentialStatements.setLogin(
                            login.username, pinHash: login.pinHash, for: person.id, at: now))
                }
                return .perform(
                    act,
                    MemberDetail(
                        userID: person.id, displayName: person.displayName, familyID: family, role: body.role,
                        status: .active, joinedAt: now, hasChildLogin: login != nil))
            }
        }
    }

    private static func checkLogin(_ body: MemberCreateAndAdd) throws(APIError) {
        guard (body.username == nil) == (body.pin == nil) else {
            throw APIError.userNameOrPINIsMissing(field: body.pin == nil ? "pin" : "username")
        }
        guard body.username == nil || body.role == .child else { throw APIError.userNameIsForChildren }
    }
}

/// An account that a guardian wants to add to the family, or to give another role there.
private struct Candidate {
    let id: UserID
    let pseudonym: Pseudonym
    /// Whether the account waits for a guardian's consent.
    let isWaiting: Bool
    /// The person's role; nil unless they are an active member.
    let role: FamilyRole?
    /// The time at which the person joined; nil unless they are an active member.
    let joinedAt: Timestamp?
    /// Whether the account was made in this family.
    let isFamilyAccount: Bool
    /// Whether a block in either direction separates the person and the guardian.
    let isBlocked: Bool

    init(_ row: Row) throws(PostgresError) {
        id = try row["id"]
        pseudonym = try row["pseudonym"]
        isWaiting = try row["status"] == AccountStatus.pendingGuardianConsent.rawValue
        role = try row["role"]
        joinedAt = try row["joined_at"]
        isFamilyAccount = try row["is_family_account"]
        isBlocked = try row["is_blocked"]
    }
}
