import Audit
import Contract
import Domain
import NagzAI
import Postgres
import SQL

/// Constraints: rules of families and of people for what the AI may do with a question.
///
/// Guardians write the family's constraints, which all members see and obey. A person's own constraints apply to that
/// person alone, and nobody else sees them. A scope has at most `ConstraintLimit.maxConstraintsPerScope`, and no two of
/// a scope have the same priority.
final class Constraints {
    let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `constraints`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.listConstraints, list)
        routes.signedIn(API.createConstraint, create)
        routes.signedIn(API.orderConstraints, reorder)
        routes.signedIn(API.listConstraintTemplates, listTemplates)
        routes.signedInWriting(API.simulateConstraints, simulate)
        routes.signedIn(API.exportConstraints, export)
        routes.signedIn(API.importConstraints, importAll)
        routes.signedIn(API.getConstraint, get)
        routes.signedIn(API.updateConstraint, update)
        routes.signedIn(API.deleteConstraint, delete)
    }

    // MARK: Reading

    /// Lists constraints in the order of evaluation.
    func list(_ caller: Caller, _ call: Call<ConstraintListQuery, NoBody>) async throws -> Page<ConstraintResponse> {
        let (query, page) = (call.parameters.query, call.parameters.page)
        let member = try await services.access.member(caller, of: query.familyID, services.database)
        let rows = try await services.database.query(ConstraintStatements.page(page, visibleTo: member.userID, query))
        return try Page(rows, answering: page) { try ConstraintResponse(ifAny: $0) }
    }

    func get(_ caller: Caller, _ call: Call<ConstraintPath, NoBody>) async throws -> ConstraintResponse {
        let member = try await services.access.member(caller, orThrow: .noSuchConstraint, services.database)
        return try await constraint(call.parameters.constraintID, of: member, services.database)
    }

    func listTemplates(_ caller: Caller, _ call: Call<NoParameters, NoBody>) async throws -> ConstraintTemplates {
        _ = try await services.access.account(caller, services.database)
        return ConstraintTemplates(items: ConstraintTemplate.all.map(ConstraintTemplateItem.init))
    }

    /// Exports constraints in the order of evaluation.
    func export(_ caller: Caller, _ call: Call<ConstraintQuery, NoBody>) async throws -> ConstraintDocument {
        let query = call.parameters
        let member = try await services.access.member(caller, of: query.familyID, services.database)
        let rows = try await services.database.query(
            ConstraintStatements.all(visibleTo: member.userID, query.scope, in: query.familyID))
        return ConstraintDocument(constraints: try rows.map { try ConstraintResponse($0).terms })
    }

    /// Reads a constraint that the member sees.
    /// - Throws: 404 for a constraint of another family, and for another person's own.
    private func constraint(
        _ id: ConstraintID, of member: Member, _ queries: any Queries
    ) async throws -> ConstraintResponse {
        let rows = try await queries.query(
            ConstraintStatements.constraint(id, visibleTo: member.userID, in: member.familyID))
        guard let row = rows.first else { throw APIError.noSuchConstraint }
        return try ConstraintResponse(row)
    }

    // MARK: Writing

    func create(_ caller: Caller, _ call: Call<NoParameters, ConstraintCreate>) async throws -> ConstraintChange {
        let (family, terms) = (call.body.familyID, call.body.terms)
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            if let denial = Self.denial(of: [terms.scope], by: member) {
                return .denied(.aiConstraintChangeDenied, to: member, denial)
            }
            let positions = try await ConstraintPositions(of: member, queries)
            guard positions[terms.scope].count < ConstraintLimit.maxConstraintsPerScope else {
                return Self.limitRefusal(member)
            }
            let constraint = try makeConstraint(terms, by: member, at: caller.now)
            var newPositions = positions
            try newPositions.insert(constraint)
            let moves = newPositions.moves(since: positions)
            var details = constraint.auditNote.details
            details["moved"] = moves.auditText
            return .perform(
                try await act(
                    .aiConstraintCreated, member, constraint.id, details, moves,
                    [ConstraintStatements.insert([constraint])], at: caller.now, queries),
                ConstraintChange(constraint: constraint, reordered: moves))
        }
    }

    /// Changes a constraint. Of two concurrent changes, the later one is applied to the result of the earlier one.
    func update(_ caller: Caller, _ call: Call<ConstraintPath, ConstraintUpdate>) async throws -> ConstraintChange {
        try await write(caller, call.parameters.constraintID) { member, constraint, queries in
            let terms = try call.body.applied(to: constraint.terms)
            guard terms != constraint.terms else {
                return .answer(ConstraintChange(constraint: constraint, reordered: []))
            }
            let positions = try await ConstraintPositions(of: member, queries)
            var newPositions = positions
            var changed = constraint
            changed.terms = terms
            changed.updatedAt = caller.now
            changed.plainText = try terms.plainText
            newPositions.remove(changed)
            try newPositions.insert(changed)
            let moves = newPositions.moves(since: positions).filter { $0.id != changed.id }
            var details = changed.auditNote.details
            details["moved"] = moves.auditText
            return .perform(
                try await act(
                    .aiConstraintChanged, member, changed.id, details, moves, [ConstraintStatements.update(changed)],
                    at: caller.now, queries),
                ConstraintChange(constraint: changed, reordered: moves))
        }
    }

    func delete(_ caller: Caller, _ call: Call<ConstraintPath, NoBody>) async throws -> NoAnswer {
        try await write(caller, call.parameters.constraintID) { member, constraint, queries in
            .perform(
                try await act(
                    .aiConstraintDeleted, member, constraint.id, ["scope": constraint.terms.scope.rawValue], [],
                    [ConstraintStatements.delete(constraint.id)], at: caller.now, queries),
                NoAnswer())
        }
    }

    /// Commits the decision of the closure on a constraint that the caller may change.
    private func write<Answer: WireContent>(
        _ caller: Caller, _ id: ConstraintID,
        _ decide: (Member, ConstraintResponse, any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        let family = try await services.access.member(caller, orThrow: .noSuchConstraint, services.database).familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let constraint = try await constraint(id, of: member, queries)
            if let denial = Self.denial(of: [constraint.terms.scope], by: member) {
                return .denied(.aiConstraintChangeDenied, to: member, denial)
            }
            return try await decide(member, constraint, queries)
        }
    }

    // MARK: Parts of writes

    /// Returns the reason for which the member may not write constraints of these scopes; nil if they may. Their own
    /// constraints need no right.
    static func denial(of scopes: [ConstraintScope], by member: Member) -> Denial? {
        scopes.contains(.family) ? member.denial(of: .editConstraints) : nil
    }

    /// Returns the refusal of a further constraint in a scope that has the maximum number of them.
    static func limitRefusal<Answer>(_ member: Member) -> Decision<Answer> {
        let denial = Denial.constraintLimitReached
        return .denied(
            .aiConstraintChangeDenied, to: member, reason: denial.rawValue, APIError(.policyForbidden, denial))
    }

    func makeConstraint(_ terms: ConstraintTerms, by member: Member, at now: Timestamp) throws -> ConstraintResponse {
        ConstraintResponse(
            id: services.random.identifier(at: now), familyID: member.familyID,
            ownerID: terms.scope == .own ? member.userID : nil, terms: terms, plainText: try terms.plainText,
            createdBy: member.userID, createdAt: now, updatedAt: now)
    }

    /// Returns an act on constraints, which also counts against the person's daily limit.
    /// - Parameter moves: new priorities of constraints that no other statement of the act changes.
    /// - Throws: 429 if the person has reached the limit.
    func act(
        _ kind: AuditKind, _ member: Member, _ resource: ConstraintID?, _ details: AuditBody, _ moves: [ConstraintMove],
        _ statements: [SQL], at now: Timestamp, _ queries: any Queries
    ) async throws -> Act {
        let count = DailyCount(limit: .constraintChanges, user: member.userID)
        var statements = statements + [try await count.checkedIncrement(at: now, queries)]
        if !moves.isEmpty { statements.append(ConstraintStatements.move(moves, at: now)) }
        return Act(
            kind: kind, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            resource: resource?.retyped(), details: details, changesRights: true, stampedRows: 0, statements: statements
        )
    }
}
