import Contract
import Domain
import NagzAI
import Testing

@testable import Server

extension ConstraintTerms {
    /// Returns terms of a constraint: by default a warning about questions of more than ten tokens.
    static func about(
        _ name: String = "n", _ scope: ConstraintScope = .family, _ priority: Int = 1,
        _ action: ConstraintAction = .warn(message: "long"),
        _ conditions: [(String, String, String)] = [("token_count", "exceeds", "10")]
    ) throws -> ConstraintTerms {
        ConstraintTerms(
            scope: scope, name: name, type: .cost, priority: priority,
            conditions: try conditions.map { try ConstraintCondition(field: $0.0, operator: $0.1, value: $0.2) },
            action: action)
    }
}

extension TestServer {
    @discardableResult
    func constraint(
        _ name: String = "n", _ scope: ConstraintScope = .family, _ priority: Int = 1, in family: Household,
        as person: TestPerson? = nil
    ) async throws -> ConstraintChange {
        try await constraint(try .about(name, scope, priority), in: family, as: person)
    }

    @discardableResult
    func constraint(
        _ terms: ConstraintTerms, in family: Household, as person: TestPerson? = nil
    ) async throws -> ConstraintChange {
        try await call(
            API.createConstraint, ConstraintCreate(familyID: family.id, terms: terms), as: person ?? family.guardian)
    }

    @discardableResult
    func change(
        _ constraint: ConstraintID, _ update: ConstraintUpdate, as person: TestPerson
    ) async throws -> ConstraintChange {
        try await call(API.updateConstraint, ConstraintPath(constraintID: constraint), update, as: person)
    }

    func constraints(of family: Household, as person: TestPerson? = nil) async throws -> [ConstraintResponse] {
        try await call(
            API.listConstraints, ConstraintListQuery(ConstraintQuery(familyID: family.id)),
            as: person ?? family.guardian
        ).items
    }

    /// Returns the names and priorities of constraints, in the order of evaluation.
    func order(of family: Household, as person: TestPerson? = nil) async throws -> [String] {
        try await constraints(of: family, as: person).map { "\($0.terms.name) \($0.terms.priority)" }
    }

    func export(_ family: Household, as person: TestPerson) async throws -> ConstraintDocument {
        try await call(API.exportConstraints, ConstraintQuery(familyID: family.id), as: person)
    }

    func importConstraints(
        _ terms: [ConstraintTerms], in family: Household, isDryRun: Bool = false, as person: TestPerson? = nil
    ) async throws -> ConstraintImport {
        try await call(
            API.importConstraints, ConstraintImportQuery(familyID: family.id, isDryRun: isDryRun),
            ConstraintDocument(constraints: terms), as: person ?? family.guardian)
    }
}
