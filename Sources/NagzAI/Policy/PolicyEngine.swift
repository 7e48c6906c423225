import Domain

/// Evaluates constraints for a person's questions. The constraints are prepared once for many questions.
///
/// The constraints of the family and the person's own are one list, ordered by priority and then by ID. The result
/// depends only on this list and the question.
public struct PolicyEngine: Sendable {
    private let constraints: [PreparedConstraint]
    private let enabledIDs: [ConstraintID]

    public init(_ constraints: [Constraint]) {
        let enabledConstraints = constraints.filter(\.isEnabled).sorted { ($0.priority, $0.id) < ($1.priority, $1.id) }
        self.constraints = enabledConstraints.map(PreparedConstraint.init)
        enabledIDs = enabledConstraints.map(\.id)
    }

    /// Returns the result of all enabled constraints for a question; the strongest action wins.
    public func evaluate(_ question: Question) -> PolicyResult {
        var result = PolicyResult(evaluated: enabledIDs)
        guard !constraints.isEmpty else { return result }
        let content = SearchedText(question.content)
        var prompts: [String] = []
        for constraint in constraints where constraint.applies(to: question, content) {
            let kind = constraint.action.kind
            if result.violation == nil { result.appliedUntilBlock.append(constraint.id) }
            if result.effectiveAction.map({ kind < $0 }) ?? true {
                (result.effectiveAction, result.decidingConstraint) = (kind, constraint.id)
            }
            switch constraint.action {
            case .block(let reason):
                result.violation = result.violation ?? ConstraintViolation(constraintID: constraint.id, reason: reason)
            case .requireConfirmation(let prompt): prompts.append(prompt)
            case .warn(let message): result.warnings.append(message)
            case .forceLocal, .forceCloud: break
            }
        }
        if result.isAllowed, !prompts.isEmpty { result.confirmationPrompt = prompts.joined(separator: "\n\n") }
        return result
    }
}

/// The result of the constraints for a question.
public struct PolicyResult: Hashable, Sendable {
    /// The strongest action that applies; nil if none does.
    public internal(set) var effectiveAction: ConstraintAction.Kind?
    /// The first constraint with the strongest action; nil if none applies.
    public internal(set) var decidingConstraint: ConstraintID?
    /// The IDs of all enabled constraints, in the order of evaluation.
    public internal(set) var evaluated: [ConstraintID] = []
    /// The IDs of the constraints that apply, up to the first one that blocks the question.
    public internal(set) var appliedUntilBlock: [ConstraintID] = []
    /// The messages of all warnings that apply, even if a constraint blocks the question.
    public internal(set) var warnings: [String] = []
    /// The prompts that the person must confirm, one paragraph each; nil if there are none, or if a constraint blocks
    /// the question.
    public internal(set) var confirmationPrompt: String?
    /// The first constraint that blocks the question; nil if none does.
    public internal(set) var violation: ConstraintViolation?

    /// The result if there are no constraints.
    public static let nothing = PolicyResult()

    public var isAllowed: Bool { violation == nil }
}

/// The constraint that blocks a question, and its reason.
public struct ConstraintViolation: Hashable, Sendable {
    public let constraintID: ConstraintID
    public let reason: String
}

/// A constraint with its texts and numbers ready to compare.
private struct PreparedConstraint: Sendable {
    let id: ConstraintID
    let action: ConstraintAction
    private let conditions: [PreparedCondition]

    init(_ constraint: Constraint) {
        id = constraint.id
        action = constraint.action
        conditions = constraint.conditions.map(PreparedCondition.init)
    }

    func applies(to question: Question, _ content: SearchedText) -> Bool {
        conditions.allSatisfy { $0.holds(for: question, content) }
    }
}

/// A condition with its value ready to compare. It holds if the result of the comparison is `expected`, which is false
/// for a negated operator.
private enum PreparedCondition: Sendable {
    case contains([SearchPattern], expected: Bool)
    case equals(MatchedText, expected: Bool)
    case tokenCount(ConstraintOperator, Int)
    case intent(QuestionIntent?, expected: Bool)
    case privacyLevel(PrivacyLevel?, expected: Bool)

    init(_ condition: ConstraintCondition) {
        let isPositive = condition.comparison == .contains || condition.comparison == .equals
        switch condition.field {
        case .content where condition.comparison == .contains || condition.comparison == .notContains:
            self = .contains(condition.alternatives.map { SearchPattern($0) }, expected: isPositive)
        case .content: self = .equals(MatchedText(condition.value), expected: isPositive)
        case .tokenCount: self = .tokenCount(condition.comparison, parseTokenCount(condition.value) ?? 0)
        case .intent: self = .intent(QuestionIntent(rawValue: condition.value), expected: isPositive)
        case .privacyLevel: self = .privacyLevel(PrivacyLevel(rawValue: condition.value), expected: isPositive)
        }
    }

    func holds(for question: Question, _ content: SearchedText) -> Bool {
        switch self {
        case .contains(let patterns, let expected): patterns.contains { content.contains($0) } == expected
        case .equals(let text, let expected): (content.text == text) == expected
        case .tokenCount(.exceeds, let count): question.tokenCount > count
        case .tokenCount(.lessThan, let count): question.tokenCount < count
        case .tokenCount(.notEquals, let count): question.tokenCount != count
        case .tokenCount(_, let count): question.tokenCount == count
        case .intent(let intent, let expected): (question.intent == intent) == expected
        case .privacyLevel(let level, let expected): (question.privacyLevel == level) == expected
        }
    }
}
