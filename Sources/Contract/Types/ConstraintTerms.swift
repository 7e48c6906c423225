import Domain
import JSON
import NagzAI

extension ConstraintCondition: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        let (field, comparison, value): (String, String, String) = (
            try fields.required("field"), try fields.required("operator"), try fields.required("value")
        )
        do {
            try self.init(field: field, operator: comparison, value: value)
        } catch {
            throw InvalidInput(error.message, field: error.lastPathComponent)
        }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("field", field.rawValue)
            json.field("operator", comparison.rawValue)
            json.field("value", value)
        }
    }
}

extension ConstraintAction: WireObject {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        let type: String = try fields.required("type")
        let text: String? =
            switch Kind(rawValue: type) {
            case .block: try fields.optional("reason")
            case .requireConfirmation: try fields.optional("prompt")
            case .warn: try fields.optional("message")
            case .forceLocal, .forceCloud, nil: nil
            }
        do {
            try self.init(type: type, text: text)
        } catch {
            throw InvalidInput(error.message, field: error.lastPathComponent)
        }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("type", kind.rawValue)
            switch self {
            case .block(let reason): json.field("reason", reason)
            case .requireConfirmation(let prompt): json.field("prompt", prompt)
            case .warn(let message): json.field("message", message)
            case .forceLocal, .forceCloud: break
            }
        }
    }
}

extension ConstraintFault {
    /// The last component of the path: the field within its condition or action.
    fileprivate var lastPathComponent: String { field.split(separator: ".").last.map(String.init) ?? field }
}

/// The terms of a constraint, without its ID, for creation, export and import.
///
/// Terms that were read from JSON are within every limit of `Constraint`.
public struct ConstraintTerms: Hashable, WireObject, WireMembers {
    public var scope: ConstraintScope
    /// The name: 1 to 80 characters, trimmed.
    public var name: String
    public var type: ConstraintType
    public var isEnabled: Bool
    /// The priority, 1…999; a constraint with a smaller number is evaluated earlier.
    public var priority: Int
    /// One to ten conditions.
    public var conditions: [ConstraintCondition]
    public var action: ConstraintAction

    public init(
        scope: ConstraintScope, name: String, type: ConstraintType, isEnabled: Bool = true, priority: Int,
        conditions: [ConstraintCondition], action: ConstraintAction
    ) {
        self.scope = scope
        self.name = name
        self.type = type
        self.isEnabled = isEnabled
        self.priority = priority
        self.conditions = conditions
        self.action = action
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        scope = try fields.required("scope")
        name = try fields.required("name")
        type = try fields.required("type")
        isEnabled = try fields.defaulted("enabled", to: true)
        priority = try fields.required("priority")
        conditions = try fields.required("conditions")
        action = try fields.required("action")
        self = try checked()
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("scope", scope)
        json.field("name", name)
        json.field("type", type)
        json.field("enabled", isEnabled)
        json.field("priority", priority)
        json.field("conditions", conditions)
        json.field("action", action)
    }

    /// Returns the constraint for the policy engine.
    public func constraint(_ id: ConstraintID) throws(ConstraintFault) -> Constraint {
        try Constraint(
            id: id, scope: scope, name: name, type: type, isEnabled: isEnabled, priority: priority,
            conditions: conditions, action: action)
    }

    /// Returns the same terms with a trimmed name.
    /// - Throws: a fault of any member.
    public func checked() throws(InvalidInput) -> ConstraintTerms {
        do {
            var terms = self
            terms.name = try constraint(ConstraintID(high: 0, low: 0)).name
            return terms
        } catch {
            throw InvalidInput(error.message, field: error.field)
        }
    }
}

/// A change of some terms of a constraint. Nil keeps a term.
public struct ConstraintUpdate: Hashable, WireObject {
    public var name: String?
    public var type: ConstraintType?
    public var isEnabled: Bool?
    public var priority: Int?
    public var conditions: [ConstraintCondition]?
    public var action: ConstraintAction?

    public init(
        name: String? = nil, type: ConstraintType? = nil, isEnabled: Bool? = nil, priority: Int? = nil,
        conditions: [ConstraintCondition]? = nil, action: ConstraintAction? = nil
    ) {
        self.name = name
        self.type = type
        self.isEnabled = isEnabled
        self.priority = priority
        self.conditions = conditions
        self.action = action
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        name = try fields.optional("name")
        type = try fields.optional("type")
        isEnabled = try fields.optional("enabled")
        priority = try fields.optional("priority")
        conditions = try fields.optional("conditions")
        action = try fields.optional("action")
        // The new values are checked in terms that are otherwise valid.
        let validTerms = ConstraintTerms(
            scope: .own, name: "any", type: .privacy, priority: 1,
            conditions: ConstraintTemplate.all.first?.conditions ?? [], action: .forceLocal)
        _ = try applied(to: validTerms)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("name", name)
            json.fieldIfPresent("type", type)
            json.fieldIfPresent("enabled", isEnabled)
            json.fieldIfPresent("priority", priority)
            json.fieldIfPresent("conditions", conditions)
            json.fieldIfPresent("action", action)
        }
    }

    /// Returns the terms after the change.
    public func applied(to terms: ConstraintTerms) throws(InvalidInput) -> ConstraintTerms {
        try ConstraintTerms(
            scope: terms.scope, name: name ?? terms.name, type: type ?? terms.type,
            isEnabled: isEnabled ?? terms.isEnabled, priority: priority ?? terms.priority,
            conditions: conditions ?? terms.conditions, action: action ?? terms.action
        ).checked()
    }
}
