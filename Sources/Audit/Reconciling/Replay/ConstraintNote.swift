import Domain

/// A constraint as its entry records it, without its words.
public struct ConstraintNote: Sendable, Hashable {
    public var scope: ConstraintScope
    public var priority: Int
    /// Type, whether it is enabled, action, number of conditions, and a digest of all words, with blanks between them.
    public var terms: String

    /// The name of the numbered details of an import: each has a constraint's id and note.
    public static let detailName = "constraint"

    private static let termNames = ["type", "enabled", "action", "conditions", "digest"]

    public init(
        scope: ConstraintScope, priority: Int, type: ConstraintType, isEnabled: Bool, action: String,
        conditionCount: Int, digest: String
    ) {
        self.scope = scope
        self.priority = priority
        terms = "\(type.rawValue) \(isEnabled) \(action) \(conditionCount) \(digest)"
    }

    public var details: AuditBody {
        var body: AuditBody = ["scope": scope.rawValue, "priority": "\(priority)"]
        for (name, value) in zip(Self.termNames, terms.split(separator: " ")) { body[name] = String(value) }
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
        terms = Self.termNames.map { body[$0] ?? "" }.joined(separator: " ")
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
