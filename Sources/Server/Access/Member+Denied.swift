import Contract
import Domain

extension Member {
    /// Why the role matrix refuses the member an act on the family; nil when it does not.
    func denial(of act: FamilyAct) -> Denial? { RoleMatrix.denial(of: act, by: Standing(role: role)) }
}

extension Decision {
    /// Refuses a member with 403 and puts that on the trail.
    /// - Parameter what: such as `member.add`; the entry's kind is `member.add.denied`.
    static func denied(_ what: String, to member: Member, _ denial: Denial, subject: Pseudonym? = nil) -> Decision {
        denied(
            what, to: member, reason: denial.rawValue, subject: subject, APIError(.authorizationDenied, denial.message))
    }

    /// The same for a refusal with words of its own.
    static func denied(
        _ what: String, to member: Member, reason: String, subject: Pseudonym? = nil, _ refusal: APIError
    ) -> Decision {
        .refuse(
            Act(
                kind: "\(what).denied", basis: .rightsUnchanged(since: member.seq), actor: member.pseudonym,
                subject: subject, details: ["reason": reason], stampedRows: 0),
            refusal)
    }
}
