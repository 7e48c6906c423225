import Domain

extension FamilyReconciliation {
    mutating func check(_ row: PolicyRow) {
        policies += 1
        let id = row.id.description
        guard replay.isFounded, let policy = replay.policy else { return addUnknown(.policy, id) }
        if policies > 1 { return add(finding(.policy, id, .noEntry)) }
        if let told = replay.policyID { compare(.policy, id, "id", id, told, 1) } else { report.add(.notRecorded) }
        compare(.policy, id, "in_force", "\(row.isInForce)", "true", nil)
        if let values = policy.values {
            for (name, value) in row.values.sorted(by: { $0.key < $1.key }) {
                compare(.policy, id, name, value, values[name] ?? "", policy.number)
            }
        } else {
            addLostDetails(.policy, id, of: nil)
        }
        check(owners: row.owners, id, policy)
        check(proposal: row.proposal, id, policy)
    }

    private mutating func check(owners: [Pseudonym?], _ id: String, _ policy: PolicyReplay) {
        let known = Set(owners.compactMap(\.self))
        guard known.count == owners.count else { return report.add(.erased) }
        let isAsTold =
            switch policy.owners {
            case .exactly(let people): known == people
            case .oneOf(let people): known.count == 1 && known.isSubset(of: people)
            case .detailsErased: true
            }
        if case .detailsErased = policy.owners { return addLostDetails(.policy, id, of: nil) }
        if !isAsTold {
            addDifference(.policy, id, "owners", Self.names(known), Self.names(policy.owners.people), policy.number)
        }
    }

    private mutating func check(proposal: PolicyProposalRow?, _ id: String, _ policy: PolicyReplay) {
        switch policy.proposal {
        case .detailsErased: addLostDetails(.policy, id, of: nil)
        case .none:
            if let proposal { addDifference(.policy, id, "proposal", proposal.id, "none", policy.number) }
        case .made(let told):
            guard proposal != told else { return }
            let field = proposal?.id == told.id ? "proposed_terms" : "proposal"
            addDifference(.policy, id, field, proposal?.id ?? "none", told.id, policy.number)
        }
    }

    private static func names(_ people: Set<Pseudonym>) -> String {
        people.sorted().map(\.description).joined(separator: ",")
    }
}
