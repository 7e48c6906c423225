import Audit
import Contract
import Domain
import NagzAI
import Postgres

// Writes of several constraints at once.
extension Constraints {
    /// Reorders constraints of one scope. The named constraints exchange their priorities among themselves, so the
    /// others keep theirs.
    func reorder(_ caller: Caller, _ call: Call<NoParameters, ConstraintOrderUpdate>) async throws -> ConstraintMoves {
        let ids = call.body.ids
        let family = try await services.access.member(caller, orThrow: .noSuchConstraint, services.database).familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let positions = try await ConstraintPositions(of: member, queries)
            let scopes = try ids.map { id throws(APIError) -> ConstraintScope in
                guard let scope = positions.scope(of: id) else { throw APIError.noSuchConstraint }
                return scope
            }
            if let denial = Self.denial(of: scopes, by: member) {
                return .denied(.aiConstraintChangeDenied, to: member, denial)
            }
            guard let scope = scopes.first, Set(scopes).count == 1 else { throw APIError.constraintsAreOfTwoScopes }
            var newPositions = positions
            newPositions[scope].reorder(ids)
            let moves = newPositions.moves(since: positions)
            guard !moves.isEmpty else { return .answer(ConstraintMoves(reordered: [])) }
            return .perform(
                try await act(
                    .aiConstraintsReordered, member, nil, ["scope": scope.rawValue, "moved": moves.auditText], moves,
                    [], at: caller.now, queries),
                ConstraintMoves(reordered: moves))
        }
    }

    /// Adds constraints in their order, as if they were created one after another: all or none. A dry run stores
    /// nothing, and returns what the import would do.
    func importAll(
        _ caller: Caller, _ call: Call<ConstraintImportQuery, ConstraintDocument>
    ) async throws -> ConstraintImport {
        let (family, isDryRun) = (call.parameters.familyID, call.parameters.isDryRun)
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let scopes = call.body.constraints.map(\.scope)
            if let denial = Self.denial(of: scopes, by: member) {
                return .denied(.aiConstraintChangeDenied, to: member, denial)
            }
            let positions = try await ConstraintPositions(of: member, queries)
            for scope in ConstraintScope.allCases {
                let count = positions[scope].count + scopes.count { $0 == scope }
                guard count <= ConstraintLimit.maxConstraintsPerScope else { return Self.limitRefusal(member) }
            }
            var (newPositions, added) = (positions, [] as [ConstraintResponse])
            for (index, terms) in call.body.constraints.enumerated() {
                let constraint = try makeConstraint(terms, by: member, at: caller.now)
                try newPositions.insert(constraint, path: "constraints[\(index)].")
                added.append(constraint)
            }
            for index in added.indices {
                added[index].terms.priority = newPositions.priority(of: added[index])
            }
            let moves = newPositions.moves(since: positions)
            let answer = ConstraintImport(isDryRun: isDryRun, imported: added.count, reordered: moves)
            guard !isDryRun, !added.isEmpty else { return .answer(answer) }
            var details: AuditBody = ["count": "\(added.count)", "moved": moves.auditText]
            details.setNumberedValues(ConstraintNote.detailName, added.map { "\($0.id) \($0.auditNote.text)" })
            return .perform(
                try await act(
                    .aiConstraintsImported, member, nil, details, moves, [ConstraintStatements.insert(added)],
                    at: caller.now, queries),
                answer)
        }
    }
}
