import Domain

/// A constraint that a person can start from.
public struct ConstraintTemplate: Hashable, Sendable {
    public let name: String
    public let type: ConstraintType
    public let conditions: [ConstraintCondition]
    public let action: ConstraintAction

    /// All templates, in the order in which they are shown.
    public static let all: [ConstraintTemplate] = [
        ConstraintTemplate(
            name: "Protect Personal Information", type: .privacy,
            conditions: [.init(.content, .contains, "SSN|credit card|social security|passport")],
            action: .block(reason: "This prompt may contain personal information")),
        ConstraintTemplate(
            name: "Warn on Large Queries", type: .cost, conditions: [.init(.tokenCount, .exceeds, "5000")],
            action: .warn(message: "This query is large and may incur cloud costs")),
        ConstraintTemplate(
            name: "Always Use Local Model", type: .privacy, conditions: [.init(.privacyLevel, .equals, "auto")],
            action: .forceLocal),
        ConstraintTemplate(
            name: "Block Harmful Content", type: .intent,
            conditions: [.init(.content, .contains, "violence|illegal|harmful")],
            action: .block(reason: "This prompt contains restricted keywords")),
    ]
}
