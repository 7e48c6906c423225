import Audit
import Domain
import DomainSQL
import Postgres
import SQL

extension FamilyCheck {
    /// Checks incentive rules and what they did.
    func checkIncentives(
        of family: FamilyID, _ state: inout FamilyReconciliation, _ queries: any Queries,
        _ renew: () async throws -> Void
    ) async throws {
        for row in try await queries.query(ReconcileStatements.incentiveRules(of: family)).map(IncentiveRuleRow.init) {
            state.check(.incentiveRule(row))
        }
        var last: IncentiveEventID?
        while true {
            let rows = try await queries.query(ReconcileStatements.incentives(of: family, after: last))
            for row in try rows.map(IncentiveRow.init) {
                state.check(.incentive(row))
                last = row.id
            }
            try await renew()
            if rows.count < ReconcileStatements.pageSize { break }
        }
    }
}

extension IncentiveRuleRow {
    fileprivate init(_ row: Row) throws(PostgresError) {
        func word<Value: RawRepresentable>(_ name: StaticString) throws(PostgresError) -> Value?
        where Value.RawValue == String {
            let text: String? = try row[name]
            return text.flatMap(Value.init)
        }
        func number(_ name: StaticString) throws(PostgresError) -> Int? {
            let text: String? = try row[name]
            return text.flatMap { Int($0) }
        }
        var terms: IncentiveTerms?
        if let trigger: IncentiveTrigger = try word("trigger"), let count = try number("count"),
            let reward: IncentiveReward = try word("reward"), let amount = try number("amount"),
            let mode: IncentiveApprovalMode = try word("approval_mode")
        {
            terms = IncentiveTerms(trigger: trigger, count: count, reward: reward, amount: amount, approvalMode: mode)
        }
        self.init(id: try row["id"], status: try row["status"], version: try row["version"], terms: terms)
    }
}

extension IncentiveRow {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], nag: try row["nag_id"], rule: try row["rule_id"], version: try row["version"],
            person: try row["pseudonym"], isApplied: try row["is_applied"])
    }
}
