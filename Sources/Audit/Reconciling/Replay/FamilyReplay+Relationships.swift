import Domain

/// A change of relationships. Admissions and departures name members; a suspension names the relationship's id.
enum RelationshipChange: Sendable {
    /// A person became a member and has a relationship with each of `others`, the other active members of that time.
    case admitted(Pseudonym, others: [Pseudonym], liftsSuspensions: Bool, entryNumber: Int64)
    /// A person left or was removed: the person's active relationships are revoked.
    case departed(Pseudonym, entryNumber: Int64)
    /// A guardian suspended the relationship with that ID. The subject is one of its two people.
    case suspended(ResourceID, subject: Pseudonym?, entryNumber: Int64)
}

extension FamilyReplay {
    mutating func suspendRelationship(_ entry: AuditEntry) {
        guard let id = entry.act.resource else { return }
        relationshipChanges.append(.suspended(id, subject: entry.act.subject, entryNumber: entry.number))
    }

    /// Adds the relationships that the entries record.
    /// - Parameter pairs: the keys of the relationships in the database, by their ids. Entries of admissions do not
    ///   contain these ids.
    mutating func addRelationships(_ pairs: [ResourceID: StateKey]) {
        func setStatus(_ status: String, _ key: StateKey, _ number: Int64) {
            rows[.relationship][key, default: ExpectedRow()].set(["status": .text(status)], by: number)
        }
        for change in relationshipChanges {
            switch change {
            case .admitted(let person, let others, let liftsSuspensions, let number):
                for key in others.map({ StateKey.pair(of: person, and: $0) }) {
                    let status = rows[.relationship][key]?["status"]
                    if status == "active" || status == "suspended" && !liftsSuspensions { continue }
                    setStatus("active", key, number)
                }
            case .departed(let person, let number):
                for (key, row) in rows[.relationship] where row["status"] == "active" && key.people.contains(person) {
                    setStatus("revoked", key, number)
                }
            case .suspended(let id, let subject, let number):
                guard let key = pairs[id], subject.map(key.people.contains) ?? true else { continue }
                setStatus("suspended", key, number)
            }
        }
    }
}
