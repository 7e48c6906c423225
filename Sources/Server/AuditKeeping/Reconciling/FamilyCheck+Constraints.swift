import Audit
import Contract
import Domain
import Postgres

extension FamilyCheck {
    /// Checks the constraints of a family and of its members.
    func checkConstraints(
        of family: FamilyID, _ state: inout FamilyReconciliation, _ queries: any Queries,
        _ renew: () async throws -> Void
    ) async throws {
        var last = ConstraintID(high: 0, low: 0)
        while true {
            let rows = try await queries.query(
                ConstraintStatements.withOwners(after: last, limit: ReconcileStatements.pageSize, in: family))
            for row in try rows.map(ConstraintRow.init) {
                state.check(.constraint(row))
                last = row.id
            }
            try await renew()
            if rows.count < ReconcileStatements.pageSize { break }
        }
    }
}

extension ConstraintRow {
    fileprivate init(_ row: Row) throws {
        self.init(
            id: try row["id"], owner: try row["pseudonym"], note: (try? ConstraintResponse(row))?.auditNote)
    }
}
