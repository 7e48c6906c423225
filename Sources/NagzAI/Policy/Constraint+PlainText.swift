import Domain

extension Constraint {
    /// The constraint as one sentence for people.
    public var plainText: String {
        "If \(conditions.map(\.plainText).joined(separator: " and ")), then \(action.plainText)"
    }
}

extension ConstraintCondition {
    fileprivate var plainText: String {
        switch field {
        case .content where comparison == .contains || comparison == .notContains:
            "prompt \(verb) \(alternatives.map { "\"\($0)\"" }.joined(separator: " or "))"
        case .content: "prompt \(verb) \"\(value)\""
        case .tokenCount: "token count \(verb) \(value)"
        case .intent: "intent \(verb) \(value)"
        case .privacyLevel: "privacy level \(verb) \(value)"
        }
    }

    private var verb: String {
        switch comparison {
        case .contains: "contains"
        case .notContains: "does not contain"
        case .equals: "equals"
        case .notEquals: "does not equal"
        case .exceeds: "exceeds"
        case .lessThan: "is less than"
        }
    }
}

extension ConstraintAction {
    fileprivate var plainText: String {
        switch self {
        case .block(let reason): "block execution with reason: \"\(reason)\""
        case .forceLocal: "force local execution"
        case .forceCloud: "force cloud execution"
        case .requireConfirmation(let prompt): "require confirmation with prompt: \"\(prompt)\""
        case .warn(let message): "warn with message: \"\(message)\""
        }
    }
}
