import Domain

extension FamilyReplay {
    mutating func changeConstraints(_ entry: AuditEntry, _ kind: AuditKind, _ body: AuditBody?) {
        if kind == .aiConstraintDeleted, let id = entry.act.resource { rows[.constraint][.id(id)] = nil }
        guard let body else {
            hasUnreadConstraints = true
            return
        }
        if kind == .aiConstraintCreated || kind == .aiConstraintChanged, let id = entry.act.resource,
            let note = ConstraintNote(body)
        {
            setConstraint(id, note, entry)
        }
        if kind == .aiConstraintsImported {
            for (id, text) in body.numberedValues(ConstraintNote.detailName).map({ Self.splitID($0[...]) }) {
                if let id, let note = ConstraintNote(text) { setConstraint(id, note, entry) }
            }
        }
        for (id, priority) in (body["moved"] ?? "").split(separator: ",").map(Self.splitID) {
            guard let id else { continue }
            update(.constraint, .id(id), ["priority": .text(String(priority))], by: entry)
        }
    }

    /// Splits `<id> <rest>`; the ID is nil for any other text.
    private static func splitID(_ text: Substring) -> (id: ResourceID?, rest: Substring) {
        let words = text.split(separator: " ", maxSplits: 1)
        return words.count == 2 ? (ResourceID(String(words[0])), words[1]) : (nil, "")
    }

    private mutating func setConstraint(_ id: ResourceID, _ note: ConstraintNote, _ entry: AuditEntry) {
        insert(
            .constraint, .id(id),
            [
                "scope": .text(note.scope.rawValue), "priority": ExpectedValue(note.priority),
                "terms": .text(note.terms), "owner": note.scope == .own ? .person(entry.act.actor) : .unknown,
            ], by: entry)
    }
}
