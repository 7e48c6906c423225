import Domain

extension API {
    /// List the constraints that apply to the caller, in the order of evaluation.
    public static let listConstraints = Endpoint<ConstraintListQuery, NoBody, Page<ConstraintResponse>>(
        Operation("listConstraints", .get, "/api/v1/ai/constraints", tag: .constraints))

    /// Make a constraint.
    public static let createConstraint = Endpoint<NoParameters, ConstraintCreate, ConstraintChange>(
        Operation("createConstraint", .post, "/api/v1/ai/constraints", tag: .constraints, status: 201))

    /// Put constraints of one scope in another order.
    public static let orderConstraints = Endpoint<NoParameters, ConstraintOrderUpdate, ConstraintMoves>(
        Operation("orderConstraints", .post, "/api/v1/ai/constraints/order", tag: .constraints))

    /// List the constraints that one can start from.
    public static let listConstraintTemplates = Endpoint<NoParameters, NoBody, ConstraintTemplates>(
        Operation("listConstraintTemplates", .get, "/api/v1/ai/constraints/templates", tag: .constraints))

    /// Try constraints and router on questions that nobody asked.
    public static let simulateConstraints = Endpoint<NoParameters, ConstraintSimulation, SimulationAnswer>(
        Operation("simulateConstraints", .post, "/api/v1/ai/constraints/simulate", tag: .constraints))

    /// Export constraints.
    public static let exportConstraints = Endpoint<ConstraintQuery, NoBody, ConstraintDocument>(
        Operation("exportConstraints", .get, "/api/v1/ai/constraints/export", tag: .constraints))

    /// Add exported constraints, all or none.
    public static let importConstraints = Endpoint<ConstraintImportQuery, ConstraintDocument, ConstraintImport>(
        Operation("importConstraints", .post, "/api/v1/ai/constraints/import", tag: .constraints))

    /// Get one constraint.
    public static let getConstraint = Endpoint<ConstraintPath, NoBody, ConstraintResponse>(
        Operation("getConstraint", .get, "/api/v1/ai/constraints/{constraint_id}", tag: .constraints))

    /// Change a constraint.
    public static let updateConstraint = Endpoint<ConstraintPath, ConstraintUpdate, ConstraintChange>(
        Operation("updateConstraint", .patch, "/api/v1/ai/constraints/{constraint_id}", tag: .constraints))

    /// Delete a constraint.
    public static let deleteConstraint = Endpoint<ConstraintPath, NoBody, NoAnswer>(
        Operation("deleteConstraint", .delete, "/api/v1/ai/constraints/{constraint_id}", tag: .constraints, status: 204)
    )

    static let constraintsOperations: [Operation] = [
        listConstraints.operation, createConstraint.operation, orderConstraints.operation,
        listConstraintTemplates.operation, simulateConstraints.operation, exportConstraints.operation,
        importConstraints.operation, getConstraint.operation, updateConstraint.operation, deleteConstraint.operation,
    ]
}

// MARK: Parameters

/// The constraint in a path.
public struct ConstraintPath: WireParameters, Hashable {
    public var constraintID: ConstraintID

    public init(constraintID: ConstraintID) {
        self.constraintID = constraintID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        constraintID = try parameters.path("constraint_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("constraint_id", constraintID)
    }
}

/// A filter for the constraints of a family.
public struct ConstraintQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    /// The scope; nil for the family's and the caller's own.
    public var scope: ConstraintScope?

    public init(familyID: FamilyID, scope: ConstraintScope? = nil) {
        self.familyID = familyID
        self.scope = scope
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        scope = try parameters.optionalQuery("scope")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("scope", scope)
    }
}

/// A page of the constraints of a family.
public struct ConstraintListQuery: WireParameters, Hashable {
    public var query: ConstraintQuery
    public var page: PageRequest

    public init(_ query: ConstraintQuery, page: PageRequest = PageRequest()) {
        self.query = query
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        query = try ConstraintQuery(parameters)
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        query.write(to: &parameters)
        page.write(to: &parameters)
    }
}

/// The family and the mode of an import.
public struct ConstraintImportQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    /// Whether the import only reports its result and changes nothing.
    public var isDryRun: Bool

    public init(familyID: FamilyID, isDryRun: Bool = false) {
        self.familyID = familyID
        self.isDryRun = isDryRun
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        isDryRun = try parameters.optionalQuery("dry_run") ?? false
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("dry_run", isDryRun)
    }
}
