import Audit
import Contract
import Domain
import Postgres

/// Incentive rules: the rewards that guardians promise for completed nags, and the effects of these rules.
///
/// A rule takes effect at most once for a nag, usually in the act that completes it (`Gamification.accrual`). Its
/// versions are never changed; an effect names the version that caused it. Only guardians see and create rules.
final class Incentives {
    let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `incentives`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.listIncentiveRules, listRules)
        routes.signedIn(API.createIncentiveRule, create)
        routes.signedIn(API.updateIncentiveRule, update)
        routes.signedIn(API.listIncentiveEvents, listEvents)
        routes.signedIn(API.listWaitingIncentiveEvents, listWaitingEvents)
        routes.signedIn(API.approveIncentiveEvent, approve)
    }

    // MARK: Reading

    /// Lists the newest version of each rule, the active ones first.
    func listRules(
        _ caller: Caller, _ call: Call<IncentiveListQuery, NoBody>
    ) async throws -> Page<IncentiveRuleResponse> {
        let (family, page) = (call.parameters.familyID, call.parameters.page)
        let member = try await services.access.member(caller, of: family, services.database)
        try await requireReader(caller, member)
        let rows = try await services.database.query(IncentiveStatements.rules(page, in: family))
        return try Page(rows, answering: page) { try IncentiveRuleResponse(ifAny: $0) }
    }

    /// Lists the effects of the rules on one nag, oldest first.
    func listEvents(
        _ caller: Caller, _ call: Call<IncentiveEventListQuery, NoBody>
    ) async throws -> Page<IncentiveEventResponse> {
        let (nag, page) = (call.parameters.nagID, call.parameters.page)
        let member = try await services.access.member(caller, orThrow: .noSuchNag, services.database)
        try await requireReader(caller, member)
        guard try await services.database.query(NagStatements.nag(nag, in: member.familyID)).first != nil else {
            throw APIError.noSuchNag
        }
        let rows = try await services.database.query(IncentiveStatements.events(of: nag, page, in: member.familyID))
        return try Page(rows, answering: page) { try IncentiveEventResponse(ifAny: $0) }
    }

    /// Lists the rewards in a family that wait for a guardian's approval, oldest first.
    func listWaitingEvents(
        _ caller: Caller, _ call: Call<IncentiveListQuery, NoBody>
    ) async throws -> Page<IncentiveEventResponse> {
        let (family, page) = (call.parameters.familyID, call.parameters.page)
        let member = try await services.access.member(caller, of: family, services.database)
        try await requireReader(caller, member)
        let rows = try await services.database.query(IncentiveStatements.waitingEvents(page, in: family))
        return try Page(rows, answering: page) { try IncentiveEventResponse(ifAny: $0) }
    }

    /// Requires that the member may read incentives: only guardians may. Refusals are recorded in the audit log.
    private func requireReader(_ caller: Caller, _ member: Member) async throws {
        if let denial = member.denial(of: .configureIncentives) {
            try await services.refuse(caller, member, .incentiveReadDenied, denial)
        }
    }

    // MARK: Rules

    /// Creates a rule. A family has at most `IncentiveTerms.maxActiveRulesPerFamily` active rules.
    func create(_ caller: Caller, _ call: Call<NoParameters, IncentiveRuleCreate>) async throws -> IncentiveRuleResponse
    {
        let body = call.body
        return try await services.ledger.write(caller, in: body.familyID) { queries in
            let member = try await services.access.member(caller, of: body.familyID, queries)
            if let denial = member.denial(of: .configureIncentives) {
                return .denied(.incentiveRuleChangeDenied, to: member, denial)
            }
            let count = try await queries.query(IncentiveStatements.countActiveRules(in: body.familyID)).onlyRow()
            if let denial = IncentiveTerms.denialOfRule(active: try count["active"]) {
                return Self.limitRefusal(member, denial)
            }
            let rule = IncentiveRuleResponse(
                id: services.random.identifier(at: caller.now), familyID: body.familyID, version: 1,
                condition: body.condition, action: body.action, approvalMode: body.approvalMode, status: .active)
            return .perform(try await versionAct(rule, .incentiveRuleCreated, member, at: caller.now, queries), rule)
        }
    }

    /// Changes a rule: a new version replaces the present one. Of two concurrent changes, the later one is applied to
    /// the result of the earlier one.
    func update(
        _ caller: Caller, _ call: Call<IncentiveRulePath, IncentiveRuleUpdate>
    ) async throws -> IncentiveRuleResponse {
        let family = try await services.access.member(caller, orThrow: .noSuchIncentiveRule, services.database).familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            if let denial = member.denial(of: .configureIncentives) {
                return .denied(.incentiveRuleChangeDenied, to: member, denial)
            }
            let row = try await queries.query(IncentiveStatements.rule(call.parameters.ruleID, in: family)).first
            guard let row else { throw APIError.noSuchIncentiveRule }
            let rule = try IncentiveRuleResponse(row)
            var changedRule = rule.changed(by: call.body)
            guard changedRule != rule else { return .answer(rule) }
            if rule.status == .retired, changedRule.status == .active,
                let denial = IncentiveTerms.denialOfRule(active: try row["active"])
            {
                return Self.limitRefusal(member, denial)
            }
            changedRule.version += 1
            return .perform(
                try await versionAct(changedRule, .incentiveRuleChanged, member, at: caller.now, queries), changedRule)
        }
    }

    /// Returns the act that stores a new version of a rule, supersedes the version before it, and counts the change.
    /// - Throws: 429 when the guardian has reached the day's limit of changes.
    private func versionAct(
        _ rule: IncentiveRuleResponse, _ kind: AuditKind, _ member: Member, at now: Timestamp, _ queries: any Queries
    ) async throws -> Act {
        let count = DailyCount(limit: .incentiveRuleChanges, user: member.userID)
        var statements = [
            IncentiveStatements.insertVersion(rule, by: member.userID, at: now),
            try await count.checkedIncrement(at: now, queries),
        ]
        if rule.version > 1 { statements.append(IncentiveStatements.supersede(rule.id, version: rule.version - 1)) }
        let version = IncentiveRuleVersion(version: rule.version, terms: rule.terms, status: rule.status)
        return Act(
            kind: kind, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            resource: rule.id.retyped(), details: version.details, stampedRows: 0, statements: statements)
    }

    private static func limitRefusal(_ member: Member, _ denial: Denial) -> Decision<IncentiveRuleResponse> {
        .denied(
            .incentiveRuleChangeDenied, to: member, reason: denial.rawValue, APIError(.policyForbidden, denial))
    }
}

extension IncentiveRuleResponse {
    init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], familyID: try row["family_id"], version: try row["version"],
            condition: IncentiveCondition(type: try row["trigger"], count: try row["count"]),
            action: IncentiveAction(type: try row["reward"], amount: try row["amount"]),
            approvalMode: try row["approval_mode"], status: try row["status"])
    }

    /// Reads a rule; nil for a row of nulls.
    fileprivate init?(ifAny row: Row) throws(PostgresError) {
        guard let _: IncentiveRuleID = try row["id"] else { return nil }
        try self.init(row)
    }

    fileprivate func changed(by update: IncentiveRuleUpdate) -> IncentiveRuleResponse {
        var rule = self
        rule.condition = update.condition ?? condition
        rule.action = update.action ?? action
        rule.approvalMode = update.approvalMode ?? approvalMode
        rule.status = update.status ?? status
        return rule
    }
}

extension IncentiveEventResponse {
    init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], nagID: try row["nag_id"], ruleID: try row["rule_id"],
            ruleVersion: try row["rule_version"], userID: try row["user_id"], actionType: try row["action_type"],
            amount: try row["amount"], approvedBy: try row["approved_by"], at: try row["at"],
            appliedAt: try row["applied_at"])
    }

    /// Reads an effect of a rule; nil for a row of nulls.
    fileprivate init?(ifAny row: Row) throws(PostgresError) {
        guard let _: IncentiveEventID = try row["id"] else { return nil }
        try self.init(row)
    }
}
