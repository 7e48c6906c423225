import Domain

/// A rule of a family or a person: if all its conditions hold for a question, its action applies.
///
/// A value of this type is valid: its initialisers check every limit. Server and device evaluate the same values.
public struct Constraint: Hashable, Sendable {
    public let id: ConstraintID
    public let scope: ConstraintScope
    /// The trimmed name, which has 1 to 80 characters.
    public let name: String
    public let type: ConstraintType
    public let isEnabled: Bool
    /// The priority from 1 to 999. A constraint with a smaller number is evaluated earlier.
    public let priority: Int
    /// The one to ten conditions, all of which must hold.
    public let conditions: [ConstraintCondition]
    public let action: ConstraintAction

    /// Creates a constraint of valid parts.
    /// - Throws: the first fault, with the path of its field.
    public init(
        id: ConstraintID, scope: ConstraintScope, name: String, type: ConstraintType, isEnabled: Bool = true,
        priority: Int, conditions: [ConstraintCondition], action: ConstraintAction
    ) throws(ConstraintFault) {
        let name = trimmed(name)
        guard !name.isEmpty else { throw ConstraintFault("name", "must not be empty") }
        guard name.unicodeScalars.count <= ConstraintLimit.maxNameLength else {
            throw ConstraintFault("name", "must have at most \(ConstraintLimit.maxNameLength) characters")
        }
        guard ConstraintLimit.priorityRange.contains(priority) else {
            throw ConstraintFault("priority", "must be from 1 to 999")
        }
        guard !conditions.isEmpty else { throw ConstraintFault("conditions", "must have at least one condition") }
        guard conditions.count <= ConstraintLimit.maxConditionsPerConstraint else {
            throw ConstraintFault(
                "conditions", "must have at most \(ConstraintLimit.maxConditionsPerConstraint) conditions")
        }
        self.id = id
        self.scope = scope
        self.name = name
        self.type = type
        self.isEnabled = isEnabled
        self.priority = priority
        self.conditions = conditions
        self.action = try action.checked()
    }
}

/// The limits of constraints. Lengths count Unicode scalars.
public enum ConstraintLimit {
    public static let maxNameLength = 80
    public static let priorityRange = 1...999
    public static let maxConditionsPerConstraint = 10
    public static let maxValueLength = 500
    public static let tokenCounts = 0...10_000_000
    public static let maxActionTextLength = 280
    /// The maximum number of constraints of a family, and of a person.
    public static let maxConstraintsPerScope = 100
    /// The maximum number of texts for which all constraints of a scope together search, because each of them costs
    /// time at every question.
    public static let maxSearchTextsPerScope = 500
}

/// A fault of a constraint in a request or a file.
public struct ConstraintFault: Error, Hashable, Sendable {
    /// The path of the field, such as `conditions[1].value`.
    public let field: String
    /// What is wrong with the field, as the end of a sentence, such as `must not be empty`.
    public let message: String

    public init(_ field: String, _ message: String) {
        self.field = field
        self.message = message
    }
}

/// One comparison of a constraint.
public struct ConstraintCondition: Hashable, Sendable {
    public let field: ConstraintField
    public let comparison: ConstraintOperator
    /// The value to compare with: for `content` a text, in which `|` separates alternatives of `contains` and
    /// `notContains`; for `token_count` decimal digits; else the name of an intent or a privacy level.
    public let value: String

    /// Creates a condition of valid parts.
    /// - Parameter index: the index of the condition in its constraint, for the path in an error.
    /// - Throws: a fault for an unknown field, an operator that the field does not have, or a value that is not of the
    ///   field's type.
    public init(
        field: String, operator name: String, value: String, at index: Int = 0
    ) throws(ConstraintFault) {
        let path = "conditions[\(index)]"
        guard let field = ConstraintField(rawValue: field) else {
            throw ConstraintFault("\(path).field", "is not a known field")
        }
        guard let comparison = ConstraintOperator(rawValue: name), field.operators.contains(comparison) else {
            throw ConstraintFault("\(path).operator", "is not an operator of \(field.rawValue)")
        }
        if let message = field.fault(of: value, comparison) { throw ConstraintFault("\(path).value", message) }
        self.field = field
        self.comparison = comparison
        self.value = value
    }

    /// Creates a condition of a template, without checks, because a test checks the templates.
    init(_ field: ConstraintField, _ comparison: ConstraintOperator, _ value: String) {
        self.field = field
        self.comparison = comparison
        self.value = value
    }

    /// The trimmed texts that `contains` and `notContains` look for.
    public var alternatives: [String] { Self.alternatives(of: value) }

    fileprivate static func alternatives(of value: String) -> [String] {
        value.split(separator: "|", omittingEmptySubsequences: false).map { trimmed(String($0)) }
    }
}

extension ConstraintField {
    /// The operators that the field can have.
    public var operators: [ConstraintOperator] {
        switch self {
        case .content: [.contains, .notContains, .equals, .notEquals]
        case .tokenCount: [.exceeds, .lessThan, .equals, .notEquals]
        case .intent, .privacyLevel: [.equals, .notEquals]
        }
    }

    /// Returns the fault of a value, as the end of a sentence; nil if it is valid.
    fileprivate func fault(of value: String, _ comparison: ConstraintOperator) -> String? {
        switch self {
        case .content:
            guard !value.isEmpty else { return "must not be empty" }
            guard value.unicodeScalars.count <= ConstraintLimit.maxValueLength else {
                return "must have at most \(ConstraintLimit.maxValueLength) characters"
            }
            guard comparison == .contains || comparison == .notContains else { return nil }
            return ConstraintCondition.alternatives(of: value).contains(where: \.isEmpty)
                ? "must not have an empty alternative" : nil
        case .tokenCount:
            return parseTokenCount(value) == nil ? "must be a number from 0 to 10000000" : nil
        case .intent: return QuestionIntent(rawValue: value) == nil ? "is not an intent" : nil
        case .privacyLevel: return PrivacyLevel(rawValue: value) == nil ? "is not a privacy level" : nil
        }
    }
}

/// Returns a number of tokens in decimal digits; nil for a sign, another character or a number out of range.
func parseTokenCount(_ text: String) -> Int? {
    guard (1...8).contains(text.utf8.count), text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 })
    else { return nil }
    return Int(text).flatMap { ConstraintLimit.tokenCounts.contains($0) ? $0 : nil }
}
