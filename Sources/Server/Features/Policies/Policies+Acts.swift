import Audit
import Contract
import Domain

/// The acts on a policy. Their entries record the version, and every limit before and after.
extension Policies {
    /// Returns the act that puts terms in force, and the policy after it.
    /// - Parameter approval: the last missing approval; nil if the caller decides alone.
    func enactmentAct(
        _ terms: PolicyTerms, _ policy: CurrentPolicy, _ member: Member, _ pseudonyms: [UserID: Pseudonym],
        _ approval: ApprovalResponse?
    ) -> (act: Act, policy: CurrentPolicy) {
        // The act gets the next sequence number of the ledger, or fails.
        let changedPolicy = policy.changed(to: terms, by: member.seq + 1)
        var details = details(of: terms, policy, pseudonyms)
        details[PolicyNote.versionName] = "\(changedPolicy.version)"
        details[PolicyNote.awaitsCoOwnerName] = "\(changedPolicy.awaitsCoOwner)"
        details["proposal"] = approval == nil ? nil : policy.proposal?.id.description
        var statements = [PolicyStatements.enact(changedPolicy)]
        if let approval {
            statements.append(
                PolicyStatements.insertApproval(approval, version: policy.version, proposal: policy.proposal?.id))
        }
        let act = Act(
            kind: .policyChanged, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            resource: policy.id.retyped(), details: details, changesRights: true, stampedRows: 0,
            statements: statements)
        return (act, changedPolicy)
    }

    /// Returns the act that proposes terms, with the proposer's approval, and the policy after it. If the terms name a
    /// co-owner in place of one who left, the act notifies the other guardians and the owner who left.
    func proposalAct(
        _ terms: PolicyTerms, _ policy: CurrentPolicy, _ member: Member, _ pseudonyms: [UserID: Pseudonym],
        _ ids: (proposal: PolicyProposalID, approval: PolicyApprovalID), _ deliveryIDs: DeliveryIDs, at now: Timestamp
    ) -> (act: Act, policy: CurrentPolicy) {
        let proposal = CurrentPolicy.Proposal(
            id: ids.proposal, proposedBy: member.userID, proposedAt: now, terms: terms, approvers: [member.userID])
        let approval = ApprovalResponse(
            id: ids.approval, policyID: policy.id, approverID: member.userID, approvedAt: now, comment: nil)
        var details = details(of: terms, policy, pseudonyms)
        details[PolicyNote.versionName] = "\(policy.version)"
        details["proposal"] = proposal.id.description
        var act = Act(
            kind: .policyProposed, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            resource: policy.id.retyped(), details: details, stampedRows: 0,
            statements: [
                PolicyStatements.setProposal(proposal, for: policy.id),
                PolicyStatements.insertApproval(approval, version: policy.version, proposal: proposal.id),
            ])
        if policy.replacesCoOwner(by: terms) {
            let excludedPeople = [member.userID] + [policy.leftOwner].compactMap(\.self)
            act.statements.append(
                DeliveryStatements.insert(.coOwnerProposed, toGuardiansBesides: excludedPeople, at: now))
            if let leftOwner = policy.leftOwner {
                act.statements.append(
                    DeliveryStatements.insert(deliveryIDs, of: .coOwnerProposed, to: leftOwner, at: now))
            }
        }
        var proposedPolicy = policy
        proposedPolicy.proposal = proposal
        proposedPolicy.changeSeq = member.seq + 1
        return (act, proposedPolicy)
    }

    /// Returns the act that adds an approval without putting a proposal in force, and the policy after it.
    func approvalAct(
        _ policy: CurrentPolicy, _ member: Member, _ approval: ApprovalResponse
    ) -> (act: Act, policy: CurrentPolicy) {
        var approvedPolicy = policy
        approvedPolicy.proposal?.approvers.insert(member.userID)
        var statements = [
            PolicyStatements.insertApproval(approval, version: policy.version, proposal: policy.proposal?.id)
        ]
        if policy.proposal != nil {
            statements.append(PolicyStatements.markChanged(policy.id))
            approvedPolicy.changeSeq = member.seq + 1
        }
        let act = Act(
            kind: .policyApproved, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            resource: policy.id.retyped(),
            details: ["version": "\(policy.version)", "proposal": policy.proposal?.id.description ?? "none"],
            stampedRows: 0, statements: statements)
        return (act, approvedPolicy)
    }

    /// Returns the limits and owners of new terms, and as `old_<name>` those of the policy in force that differ. The
    /// values under names that the server does not know are recorded as a digest only, because clients chose the names.
    private func details(
        of terms: PolicyTerms, _ policy: CurrentPolicy, _ pseudonyms: [UserID: Pseudonym]
    ) -> AuditBody {
        func values(_ terms: PolicyTerms) -> [String: String] {
            var values = terms.auditValues
            values["owners"] = terms.owners.compactMap { pseudonyms[$0]?.description }.joined(separator: ",")
            return values
        }
        var details = AuditBody(values(terms))
        for (name, value) in values(policy.terms) where details[name] != value { details["old_\(name)"] = value }
        return details
    }
}
