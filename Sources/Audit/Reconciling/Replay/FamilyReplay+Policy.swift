import Domain

extension FamilyReplay {
    mutating func createPolicy(_ entry: AuditEntry, _ body: AuditBody?) {
        insert(
            .policy, .policy,
            [
                "id": body?["policy"].map { .text($0) } ?? .notRecorded(nil), "in_force": "true",
                "owners": .people([entry.act.subject ?? entry.act.actor]), PolicyNote.versionName: "1",
                PolicyNote.awaitsCoOwnerName: "false", "proposal": "none", "proposed_terms": "none",
            ], by: entry)
        for (name, value) in PolicyNote.standard { update(.policy, .policy, [name: .text(value)], by: entry) }
    }

    mutating func changePolicy(_ entry: AuditEntry, _ body: AuditBody?) {
        proposal = nil
        update(
            .policy, .policy,
            [
                "owners": body.map { .people(PolicyNote.owners(in: $0)) } ?? .lostDetails(nil),
                PolicyNote.versionName: ExpectedValue(PolicyNote.versionName, of: nil, in: body),
                PolicyNote.awaitsCoOwnerName: ExpectedValue(PolicyNote.awaitsCoOwnerName, of: nil, in: body),
                "proposal": "none", "proposed_terms": "none",
            ], by: entry)
        let values = body.map(PolicyNote.values(in:))
        for name in PolicyNote.standard.keys {
            let value = values?[name].map { ExpectedValue.text($0) } ?? .lostDetails(nil)
            update(.policy, .policy, [name: value], by: entry)
        }
    }

    mutating func proposePolicy(_ entry: AuditEntry, _ body: AuditBody?) {
        // Only an owner can propose, so the actor is the owner.
        if case .oneOf = rows[.policy][.policy]?["owners"] {
            update(.policy, .policy, ["owners": .people([entry.act.actor])], by: entry)
        }
        proposal = body.flatMap { PolicyProposalNote($0, by: entry.act.actor) }
        updateProposal(entry)
    }

    mutating func approvePolicy(_ entry: AuditEntry, _ body: AuditBody?) {
        guard proposal != nil, body?["proposal"] == proposal?.id || body == nil else { return }
        if body == nil { proposal = nil } else { proposal?.approvers.insert(entry.act.actor) }
        updateProposal(entry)
    }

    private mutating func updateProposal(_ entry: AuditEntry) {
        update(
            .policy, .policy,
            [
                "proposal": proposal.map { .text($0.id) } ?? .lostDetails(nil),
                "proposed_terms": proposal.map { .text($0.text) } ?? .lostDetails(nil),
            ], by: entry)
    }

    /// Ends the ownership of a person who leaves. A pending proposal ends too if the person owns the policy, or would
    /// own it by that proposal. If the person was the only owner, another guardian with a sign-in of their own becomes
    /// the owner; the entry does not say which one.
    mutating func endOwnership(of person: Pseudonym, _ entry: AuditEntry) {
        guard let policy = rows[.policy][.policy], let owners = policy["owners"] else { return }
        let isOwner = owners.people.contains(person)
        if let pending = proposal, isOwner || pending.owners.contains(person) {
            proposal = nil
            update(.policy, .policy, ["proposal": "none", "proposed_terms": "none"], by: entry)
        }
        guard isOwner else { return }
        let remaining = owners.people.subtracting([person])
        if case .people = owners, !remaining.isEmpty {
            return update(
                .policy, .policy, ["owners": .people(remaining), PolicyNote.awaitsCoOwnerName: "true"], by: entry)
        }
        let successors = activeMembers(except: person) { $0["role"]?.text ?? "guardian" == "guardian" }
            .filter { !membersWithoutOwnSignIn.contains($0) }
        let candidates = remaining.union(successors)
        update(.policy, .policy, ["owners": candidates.isEmpty ? .people([person]) : .oneOf(candidates)], by: entry)
    }
}
