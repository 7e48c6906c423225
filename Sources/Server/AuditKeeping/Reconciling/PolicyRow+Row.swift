import Audit
import Domain
import JSON
import Postgres

extension PolicyRow {
    /// Reads a row of `ReconcileStatements.policies`.
    init(_ row: Row) throws {
        let limits = try FamilyPolicy(row)
        let terms = PolicyTerms(
            owners: [], limits: limits, others: try CurrentPolicy.jsonObject(try row["constraints"]))
        self.init(
            id: try row["id"], owners: try row.list("owners") ?? [], isInForce: try row["is_in_force"],
            values: Self.fieldTexts(
                of: limits, others: terms.digestOfOthers, version: try row["version"],
                awaitsCoOwner: try row["awaits_co_owner"]),
            proposal: try PolicyProposalRow(ifAny: row))
    }
}

extension PolicyProposalRow {
    /// Reads the proposal of a row; nil where nothing is proposed.
    fileprivate init?(ifAny row: Row) throws {
        guard let id: PolicyProposalID = try row["proposal_id"] else { return nil }
        let constraints = try CurrentPolicy.jsonObject(try row["proposed_constraints"])
        // What no owner can propose is no proposal of theirs.
        let values = (try? PolicyTerms(owners: [], constraints: constraints))?.auditValues ?? [:]
        self.init(
            id: id.description, owners: Set(try row.list("proposed_owners") ?? []), values: values,
            approvers: Set(try row.list("approvers") ?? []))
    }
}
