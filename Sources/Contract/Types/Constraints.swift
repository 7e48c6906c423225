import Domain
import JSON
import NagzAI

extension ConstraintOrderUpdate {
    public static let idCounts = 1...ConstraintLimit.maxConstraintsPerScope

    /// Checks the number of IDs, and that none occurs twice.
    func check() throws(InvalidInput) {
        guard Self.idCounts.contains(ids.count) else {
            throw .wrongCount(Self.idCounts, of: "ids", in: "ids")
        }
        guard Set(ids).count == ids.count else { throw .repeated("id", in: "ids") }
    }
}

extension ConstraintTemplateItem {
    public init(_ template: ConstraintTemplate) {
        name = template.name
        type = template.type
        conditions = template.conditions
        action = template.action
    }
}

/// A document with exported constraints.
public struct ConstraintDocument: Hashable, WireObject {
    public static let schemaVersion = 1
    /// The maximum number of constraints: those of both scopes.
    public static let maxConstraints = 2 * ConstraintLimit.maxConstraintsPerScope

    public var constraints: [ConstraintTerms]

    public init(constraints: [ConstraintTerms]) {
        self.constraints = constraints
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        let version: Int = try fields.required("schema_version")
        guard version == Self.schemaVersion else { throw .notVersion(Self.schemaVersion, "schema_version") }
        constraints = try fields.required("constraints")
        guard constraints.count <= Self.maxConstraints else {
            throw .tooMany("constraints", max: Self.maxConstraints, in: "constraints")
        }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("schema_version", Self.schemaVersion)
            json.field("constraints", constraints)
        }
    }
}

extension ConstraintListQuery {
    public init(_ query: ConstraintQuery, page: PageRequest = PageRequest()) {
        self.init(query: query, page: page)
    }
}
