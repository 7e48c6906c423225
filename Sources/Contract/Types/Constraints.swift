import Domain
import JSON
import NagzAI

/// A constraint of a family or a person.
public struct ConstraintResponse: Hashable, WireObject {
    public var id: ConstraintID
    public var familyID: FamilyID
    /// The owner; nil for a constraint of the family.
    public var ownerID: UserID?
    public var terms: ConstraintTerms
    /// The constraint as one sentence.
    public var plainText: String
    public var createdBy: UserID
    public var createdAt: Timestamp
    public var updatedAt: Timestamp

    public init(
        id: ConstraintID, familyID: FamilyID, ownerID: UserID?, terms: ConstraintTerms, plainText: String,
        createdBy: UserID, createdAt: Timestamp, updatedAt: Timestamp
    ) {
        self.id = id
        self.familyID = familyID
        self.ownerID = ownerID
        self.terms = terms
        self.plainText = plainText
        self.createdBy = createdBy
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        familyID = try fields.required("family_id")
        ownerID = try fields.optional("owner_id")
        terms = try ConstraintTerms(fields)
        plainText = try fields.required("plain_text")
        createdBy = try fields.required("created_by")
        createdAt = try fields.required("created_at")
        updatedAt = try fields.required("updated_at")
    }

    public func write(to json: inout JSONWriter) { json.object { writeFields(to: &$0) } }

    func writeFields(to json: inout JSONWriter) {
        json.field("id", id)
        json.field("family_id", familyID)
        json.field("owner_id", ownerID)
        terms.writeFields(to: &json)
        json.field("schema_version", ConstraintDocument.schemaVersion)
        json.field("plain_text", plainText)
        json.field("created_by", createdBy)
        json.field("created_at", createdAt)
        json.field("updated_at", updatedAt)
    }
}

/// The priority that a constraint has now.
public struct ConstraintMove: Hashable, WireObject {
    public var id: ConstraintID
    public var priority: Int

    public init(id: ConstraintID, priority: Int) {
        self.id = id
        self.priority = priority
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        priority = try fields.required("priority")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("priority", priority)
        }
    }
}

/// A constraint that was made or changed, and the others that moved because their priority was taken.
public struct ConstraintChange: Hashable, WireObject {
    public var constraint: ConstraintResponse
    /// The constraints that moved, by priority.
    public var reordered: [ConstraintMove]

    public init(constraint: ConstraintResponse, reordered: [ConstraintMove]) {
        self.constraint = constraint
        self.reordered = reordered
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        constraint = try ConstraintResponse(fields)
        reordered = try fields.required("reordered")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            constraint.writeFields(to: &json)
            json.field("reordered", reordered)
        }
    }
}

/// Constraints of one scope in their new order. They share out the priorities that they have.
public struct ConstraintOrderUpdate: Hashable, WireObject {
    public static let idCounts = 1...ConstraintLimit.constraintsPerScope
    /// 1…100, each once.
    public var ids: [ConstraintID]

    public init(ids: [ConstraintID]) {
        self.ids = ids
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        ids = try fields.required("ids")
        guard Self.idCounts.contains(ids.count) else {
            throw InvalidInput("must have 1 to \(Self.idCounts.upperBound) ids", field: "ids")
        }
        guard Set(ids).count == ids.count else { throw InvalidInput("must have each id once", field: "ids") }
    }

    public func write(to json: inout JSONWriter) {
        json.object { $0.field("ids", ids) }
    }
}

/// The constraints that have another priority now.
public struct ConstraintMoves: Hashable, WireObject {
    /// The constraints that moved, by priority.
    public var reordered: [ConstraintMove]

    public init(reordered: [ConstraintMove]) {
        self.reordered = reordered
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        reordered = try fields.required("reordered")
    }

    public func write(to json: inout JSONWriter) {
        json.object { $0.field("reordered", reordered) }
    }
}

/// A constraint that a person can start from.
public struct ConstraintTemplateItem: Hashable, WireObject {
    public var name: String
    public var type: ConstraintType
    public var conditions: [ConstraintCondition]
    public var action: ConstraintAction

    public init(_ template: ConstraintTemplate) {
        name = template.name
        type = template.type
        conditions = template.conditions
        action = template.action
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        name = try fields.required("name")
        type = try fields.required("type")
        conditions = try fields.required("conditions")
        action = try fields.required("action")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("name", name)
            json.field("type", type)
            json.field("conditions", conditions)
            json.field("action", action)
        }
    }
}

/// All templates.
public struct ConstraintTemplates: Hashable, WireObject {
    public var items: [ConstraintTemplateItem]

    public init(items: [ConstraintTemplateItem]) {
        self.items = items
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        items = try fields.required("items")
    }

    public func write(to json: inout JSONWriter) {
        json.object { $0.field("items", items) }
    }
}

/// Exported constraints.
public struct ConstraintDocument: Hashable, WireObject {
    public static let schemaVersion = 1
    /// Both scopes full.
    public static let most = 2 * ConstraintLimit.constraintsPerScope

    public var constraints: [ConstraintTerms]

    public init(constraints: [ConstraintTerms]) {
        self.constraints = constraints
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        let version: Int = try fields.required("schema_version")
        guard version == Self.schemaVersion else { throw InvalidInput("must be 1", field: "schema_version") }
        constraints = try fields.required("constraints")
        guard constraints.count <= Self.most else {
            throw InvalidInput("must have at most \(Self.most) constraints", field: "constraints")
        }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("schema_version", Self.schemaVersion)
            json.field("constraints", constraints)
        }
    }
}

/// The result of an import, or of its dry run.
public struct ConstraintImport: Hashable, WireObject {
    public var isDryRun: Bool
    /// The number of constraints that it adds.
    public var imported: Int
    /// The earlier constraints that move, by priority.
    public var reordered: [ConstraintMove]

    public init(isDryRun: Bool, imported: Int, reordered: [ConstraintMove]) {
        self.isDryRun = isDryRun
        self.imported = imported
        self.reordered = reordered
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        isDryRun = try fields.required("dry_run")
        imported = try fields.required("imported")
        reordered = try fields.required("reordered")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("dry_run", isDryRun)
            json.field("imported", imported)
            json.field("reordered", reordered)
        }
    }
}
