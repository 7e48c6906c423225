import Domain

/// A constraint as its entry records it, without its words.
public struct ConstraintNote: Sendable, Hashable {
    public var scope: ConstraintScope
    public var priority: Int
    /// Type, whether it is enabled, action, number of conditions, and a digest of all words, with blanks between them.
    public var terms: String

    private static let names = ["type", "enabled", "action", "conditions", "digest"]

    public init(
        scope: ConstraintScope, priority: Int, type: ConstraintType, isEnabled: Bool, action: String, conditions: Int,
        digest: String
    ) {
        self.scope = scope
        self.priority = priority
        terms = "\(type.rawValue) \(isEnabled) \(action) \(conditions) \(digest)"
    }

    public var details: AuditBody {
        var body: AuditBody = ["scope": scope.rawValue, "priority": "\(priority)"]
        for (name, value) in zip(Self.names, terms.split(separator: " ")) { body[name] = String(value) }
        return body
    }

    /// The note in one line.
    public var text: String { "\(scope.rawValue) \(priority) \(terms)" }

    /// Reads the note in an entry's details; nil for those of another form.
    init?(_ body: AuditBody) {
        guard let scope = body["scope"].flatMap(ConstraintScope.init),
            let priority = body["priority"].flatMap({ Int($0) })
        else { return nil }
        self.scope = scope
        self.priority = priority
        terms = Self.names.map { body[$0] ?? "" }.joined(separator: " ")
    }

    /// Parses `<scope> <priority> <terms>`.
    init?(_ text: Substring) {
        let words = text.split(separator: " ", maxSplits: 2)
        guard words.count == 3, let scope = ConstraintScope(rawValue: String(words[0])), let priority = Int(words[1])
        else { return nil }
        self.scope = scope
        self.priority = priority
        terms = String(words[2])
    }
}

/// A row of the constraints.
public struct ConstraintRow: Sendable {
    public var id: ConstraintID
    /// The owner; nil for a constraint of the family, and for somebody who was erased.
    public var owner: Pseudonym?
    /// The note; nil where the row has a value that no constraint has.
    public var note: ConstraintNote?

    public init(id: ConstraintID, owner: Pseudonym?, note: ConstraintNote?) {
        self.id = id
        self.owner = owner
        self.note = note
    }
}

/// The constraints of one family as its entries record them.
struct ConstraintReplay: Sendable {
    struct Constraint: Sendable {
        /// The owner; nil for a constraint of the family.
        let owner: Pseudonym?
        var note: ConstraintNote
        var number: Int64
    }

    private(set) var constraints: [ResourceID: Constraint] = [:]
    /// Whether an entry has lost its details: it may have created or moved any of the constraints.
    private(set) var hasGaps = false

    mutating func apply(_ effect: StateEffect, _ entry: AuditEntry, _ body: AuditBody?) {
        if effect == .constraintDeleted, let id = entry.act.resource { constraints[id] = nil }
        guard let body else {
            hasGaps = true
            return
        }
        if effect == .constraintSet, let id = entry.act.resource, let note = ConstraintNote(body) {
            set(id, note, entry)
        }
        if effect == .constraintsImported {
            var number = 1
            while let text = body["constraint_\(number)"] {
                let words = text.split(separator: " ", maxSplits: 1)
                if words.count == 2, let id = ResourceID(String(words[0])), let note = ConstraintNote(words[1]) {
                    set(id, note, entry)
                }
                number += 1
            }
        }
        for move in (body["moved"] ?? "").split(separator: ",") {
            let words = move.split(separator: " ")
            guard words.count == 2, let id = ResourceID(String(words[0])), let priority = Int(words[1]) else {
                continue
            }
            constraints[id]?.note.priority = priority
            constraints[id]?.number = entry.number
        }
    }

    private mutating func set(_ id: ResourceID, _ note: ConstraintNote, _ entry: AuditEntry) {
        constraints[id] = Constraint(
            owner: note.scope == .own ? entry.act.actor : nil, note: note, number: entry.number)
    }

    /// A person's own constraints end with the membership.
    mutating func depart(_ person: Pseudonym) { constraints = constraints.filter { $0.value.owner != person } }
}

extension FamilyReconciliation {
    mutating func check(_ row: ConstraintRow) {
        let (id, text): (ResourceID, String) = (row.id.retyped(), row.id.description)
        openConstraints.remove(id)
        if replay.constraints.hasGaps { return addLostDetails(.constraint, text, of: nil) }
        guard let told = replay.constraints.constraints[id] else { return addUnknown(.constraint, text) }
        guard let note = row.note else {
            return addDifference(.constraint, text, "terms", "other", told.note.terms, told.number)
        }
        compare(.constraint, text, "scope", note.scope.rawValue, told.note.scope.rawValue, told.number)
        compare(.constraint, text, "priority", "\(note.priority)", "\(told.note.priority)", told.number)
        compare(.constraint, text, "terms", note.terms, told.note.terms, told.number)
        if told.owner != nil { compare(person: row.owner, told.owner, .constraint, text, "owner", told.number) }
    }

    mutating func finishConstraints() {
        guard !replay.constraints.hasGaps else { return }
        for id in openConstraints {
            addMissing(.constraint, id.description, replay.constraints.constraints[id]?.number)
        }
    }
}
