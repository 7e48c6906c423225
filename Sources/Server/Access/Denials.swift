import Audit
import Contract
import Domain

extension Services {
    /// Refuses an act that the role matrix denies to the member, and records the refusal in the family's audit log.
    /// Only for operations that write nothing else.
    func refuse(_ caller: Caller, _ member: Member, _ kind: AuditKind, _ denial: Denial) async throws -> Never {
        let _: NoAnswer = try await ledger.write(caller, in: member.familyID) { queries in
            .denied(kind, to: try await access.member(caller, of: member.familyID, queries), denial)
        }
        throw APIError(.authorizationDenied, denial)
    }

    /// Returns the caller's account, which is an administrator's. The refusal of a family's member is recorded in the
    /// family's audit log.
    /// - Throws: 403 for everybody but administrators.
    func requireAdministrator(_ caller: Caller, _ kind: AuditKind) async throws -> Account {
        let account = try await access.account(caller, database)
        if account.isAdmin { return account }
        guard let family = account.family else { throw APIError(.authorizationDenied, .administratorOnly) }
        let member = try await access.member(caller, of: family, database)
        try await refuse(caller, member, kind, .administratorOnly)
    }
}

extension Member {
    /// Returns the reason for which the role matrix denies the member an act on the family; nil if the act is allowed.
    func denial(of act: FamilyAct) -> Denial? { RoleMatrix.denial(of: act, by: MemberState(role: role)) }
}

extension Act {
    /// Returns the act that records a refusal in the audit log, and changes nothing else.
    static func denial(
        _ kind: AuditKind, basis: Basis, actor: Pseudonym, subject: Pseudonym? = nil, resource: ResourceID? = nil,
        reason: String
    ) -> Act {
        Act(
            kind: kind, basis: basis, actor: actor, subject: subject, resource: resource, details: ["reason": reason],
            stampedRows: 0)
    }
}

extension Decision {
    /// Returns the decision that refuses a member with 403, and records the refusal in the audit log.
    /// - Parameter kind: the kind of the audit entry, such as `.memberAddDenied`.
    static func denied(_ kind: AuditKind, to member: Member, _ denial: Denial, subject: Pseudonym? = nil) -> Decision {
        denied(kind, to: member, reason: denial.rawValue, subject: subject, APIError(.authorizationDenied, denial))
    }

    /// Returns the decision that refuses a member with `refusal`, and records this in the audit log.
    /// - Parameter reason: the reason in the audit entry, and in `refusal` if that has none.
    static func denied(
        _ kind: AuditKind, to member: Member, reason: String, subject: Pseudonym? = nil, _ refusal: APIError
    ) -> Decision {
        var refusal = refusal
        refusal.reason = refusal.reason ?? reason
        return .refuse(
            .denial(
                kind, basis: .rightsUnchanged(since: member.seq), actor: member.pseudonym, subject: subject,
                reason: reason),
            refusal)
    }
}
