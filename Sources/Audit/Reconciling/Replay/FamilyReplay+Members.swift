import Domain

extension FamilyReplay {
    /// Applies the admission of a member.
    /// - Parameters:
    ///   - role: nil where the entry has lost it with its details.
    ///   - liftsSuspensions: whether the member's suspended relationships become active again.
    mutating func admit(_ entry: AuditEntry, role: String?, _ body: AuditBody?, liftsSuspensions: Bool) {
        guard let person = entry.act.subject else { return }
        relationshipChanges.append(
            .admitted(
                person, others: activeMembers(except: person), liftsSuspensions: liftsSuspensions,
                entryNumber: entry.number))
        let known = rows[.membership][.person(person)]?[StateFinding.pseudonymField]
        insert(
            .membership, .person(person),
            [
                "status": "active", "role": role.map { .text($0) } ?? .lostDetails(person),
                StateFinding.pseudonymField: body?["user"].map { .text($0) } ?? known ?? .notRecorded(person),
            ], by: entry)
        if entry.act.kind == AuditKind.memberCreated.rawValue { membersWithoutOwnSignIn.insert(person) }
    }

    /// Applies a change of a member's role, which ends the member's consents.
    mutating func changeRole(_ entry: AuditEntry, _ body: AuditBody?) {
        guard let person = entry.act.subject else { return }
        update(.membership, .person(person), ["role": ExpectedValue("role", of: person, in: body)], by: entry)
        revokeConsents(of: person, entry)
    }

    /// Ends a membership and what depends on it.
    mutating func depart(_ entry: AuditEntry) {
        guard let person = entry.act.subject else { return }
        update(.membership, .person(person), ["status": "removed"], by: entry)
        relationshipChanges.append(.departed(person, entryNumber: entry.number))
        revokeConsents(of: person, entry)
        cancelOpenNags(entry) { $0["recipient"] == .person(person) }
        for key in keys(.constraint, where: { $0["owner"] == .person(person) }) { rows[.constraint][key] = nil }
        endOwnership(of: person, entry)
    }

    func activeMembers(
        except person: Pseudonym, where isIncluded: (ExpectedRow) -> Bool = { _ in true }
    ) -> [Pseudonym] {
        keys(.membership) { $0["status"] == "active" && isIncluded($0) }.flatMap(\.people).filter { $0 != person }
    }
}
