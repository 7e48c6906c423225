import Audit
import Contract
import Domain
import DomainSQL
import Postgres
import SQL

// The rows that a check compares with the entries, as ReconcileStatements reads them.

extension PreparedEntry {
    /// Reads the columns `ReconcileStatements.entryColumns`.
    init(_ row: Row, _ sealing: Sealing) throws {
        let payload: ExportRecord.Payload =
            switch try sealing.body(row) {
            case .whole(let salt, let body): .whole(salt: salt, body: body)
            case .erased: .erased
            case .unreadable: .unreadable
            }
        let act = Audit.AuditEntry.Act(
            kind: try row["kind"], actor: try row["actor"], subject: try row["subject"],
            resource: try row["resource"], trace: try row["trace"], request: try row["request"],
            commitment: try row["commit"])
        let entry = Audit.AuditEntry(
            family: try row["family_id"], number: try row["n"], at: try row["at"], act: act,
            previous: try row["prev"], hash: try row["hash"])
        self.init(entry, payload, position: nil)
    }
}

extension MemberRow {
    init(_ row: Row) throws(PostgresError) {
        self.init(
            user: try row["user_id"], person: try row["pseudonym"], role: try row["role"],
            isActive: try row["is_active"])
    }
}

extension ConnectionRow {
    init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], inviter: try row["inviter"], invitee: try row["invitee"], status: try row["status"],
            inviterSharesChildren: try row["inviter_shares_children"],
            inviteeSharesChildren: try row["invitee_shares_children"])
    }
}

extension ConsentRow {
    init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], person: try row["pseudonym"], type: try row["consent_type"],
            isRevoked: try row["is_revoked"], grantedBy: try row["granted_seq"])
    }
}

extension NagRow {
    init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], creator: try row["creator"], recipient: try row["recipient"],
            category: try row["category"], dueAt: try row["due_at"], status: try row["status"],
            isDismissed: try row["is_dismissed"], phase: try row["phase"], parent: try row["parent_nag_id"],
            changedBy: try row["sync_seq"])
    }
}

extension ScoreRow {
    init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], user: try row["user_id"], person: try row["pseudonym"], nag: try row["nag_id"],
            points: try row["points"], streakDelta: try row["streak"], isCompletion: try row["is_completion"],
            madeBy: try row["sync_seq"])
    }
}

extension TotalsRow {
    init(_ row: Row) throws(PostgresError) {
        self.init(
            user: try row["user_id"],
            sums: ScoreSums(
                points: try row["points"], streak: try row["streak"], events: try row["events"],
                completions: try row["completions"]),
            dropped: ScoreSums(
                points: try row["dropped_points"], streak: try row["dropped_streak"],
                events: try row["dropped_events"], completions: try row["dropped_completions"]))
    }
}

extension BadgeRow {
    init(_ row: Row) throws(PostgresError) {
        self.init(user: try row["user_id"], person: try row["pseudonym"], type: try row["badge_type"])
    }
}

extension IncentiveRuleRow {
    init(_ row: Row) throws(PostgresError) {
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
    init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], nag: try row["nag_id"], rule: try row["rule_id"], version: try row["version"],
            person: try row["pseudonym"], isApplied: try row["is_applied"])
    }
}

extension ConstraintRow {
    init(_ row: Row) throws {
        self.init(
            id: try row["id"], owner: try row["pseudonym"], note: (try? ConstraintResponse(row))?.auditNote)
    }
}
