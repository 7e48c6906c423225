import Contract
import Domain
import DomainSQL
import JSON
import SQL

/// Every statement on incentive rules and their effects.
enum IncentiveStatements {
    private static let ruleColumns: SQL = """
        r.id, r.family_id, r.version, r.condition ->> 'type' AS trigger, (r.condition ->> 'count')::integer AS count,
        r.action ->> 'type' AS reward, (r.action ->> 'amount')::integer AS amount, r.approval_mode, r.status
        """
    private static let eventColumns: SQL = """
        i.id, i.nag_id, i.rule_id, i.rule_version, i.user_id, i.action_type, (r.action ->> 'amount')::integer AS amount,
        i.approved_by, i.at, i.applied_at
        """
    /// Joins the version of the rule that an event `i` names, which always exists.
    private static func ruleJoin(in family: FamilyID) -> SQL {
        """
        LEFT JOIN incentive_rules r ON r.family_id = \(family) AND r.id = i.rule_id AND r.version = i.rule_version
        """
    }

    /// Reads the effect of any version of a rule on a nag: its `id`, and its `applied_at`, which is null while it waits
    /// for a guardian.
    static func event(of rule: IncentiveRuleID, on nag: NagID, in family: FamilyID) -> SQL {
        """
        SELECT i.id, i.applied_at FROM incentive_events i
        WHERE i.family_id = \(family) AND i.nag_id = \(nag) AND i.rule_id = \(rule)
        """
    }

    // MARK: Rules

    /// An expression: the active rules of a family, oldest first, each as `id version trigger count reward amount
    /// mode`, separated by commas. `family` is an expression of the enclosing statement.
    static func activeRules(in family: SQL) -> SQL {
        """
        (SELECT coalesce(string_agg(concat_ws(' ', r.id, r.version, r.condition ->> 'type', r.condition ->> 'count',
             r.action ->> 'type', r.action ->> 'amount', r.approval_mode), ',' ORDER BY r.id), '')
         FROM incentive_rules r WHERE r.family_id = \(family) AND r.status = 'active')
        """
    }

    /// Reads the newest version of a rule, and the number of the family's active rules.
    static func rule(_ id: IncentiveRuleID, in family: FamilyID) -> SQL {
        """
        SELECT \(ruleColumns), (\(countActiveRules(in: family))) AS active FROM incentive_rules r
        WHERE r.family_id = \(family) AND r.id = \(id) AND r.status <> 'superseded'
        """
    }

    /// Counts the active rules of a family, as `active`.
    static func countActiveRules(in family: FamilyID) -> SQL {
        "SELECT count(*) AS active FROM incentive_rules WHERE family_id = \(family) AND status = 'active'"
    }

    /// Reads a page of the newest versions, the active rules first.
    static func rules(_ page: PageRequest, in family: FamilyID) -> SQL {
        page.select(
            ruleColumns, from: "incentive_rules", as: "r",
            where: "r.family_id = \(family) AND r.status <> 'superseded'", orderBy: "r.status, r.id")
    }

    // MARK: Events

    /// Reads an effect of a rule, with the terms of the rule's version and the recipient's pseudonym.
    static func event(_ id: IncentiveEventID, in family: FamilyID) -> SQL {
        """
        SELECT \(eventColumns), r.condition ->> 'type' AS trigger, (r.condition ->> 'count')::integer AS count,
               r.approval_mode, u.pseudonym
        FROM incentive_events i \(ruleJoin(in: family)) JOIN users u ON u.id = i.user_id
        WHERE i.family_id = \(family) AND i.id = \(id)
        """
    }

    /// Reads a page of the effects of rules on a nag, oldest first.
    static func events(of nag: NagID, _ page: PageRequest, in family: FamilyID) -> SQL {
        pageOfEvents(where: "i.nag_id = \(nag)", page, in: family)
    }

    /// Reads a page of the effects in a family that wait for a guardian, oldest first.
    static func waitingEvents(_ page: PageRequest, in family: FamilyID) -> SQL {
        pageOfEvents(where: "i.applied_at IS NULL", page, in: family)
    }

    private static func pageOfEvents(where condition: SQL, _ page: PageRequest, in family: FamilyID) -> SQL {
        page.select(
            eventColumns, from: "incentive_events", as: "i", where: "i.family_id = \(family) AND \(condition)",
            joining: ruleJoin(in: family), orderBy: "i.at, i.id")
    }

    /// Reads a page of the effects of a family's rules on a person, for an export.
    static func exportedEvents(_ page: ExportPage, in family: FamilyID) -> SQL {
        """
        SELECT i.id, jsonb_build_object(
            'id', i.id, 'family_id', i.family_id, 'nag_id', i.nag_id, 'rule_id', i.rule_id,
            'rule_version', i.rule_version, 'action_type', i.action_type, 'amount', (r.action ->> 'amount')::integer,
            'at', \(ExportPage.moment("i.at")), 'applied_at', \(ExportPage.moment("i.applied_at")))::text AS json
        FROM incentive_events i \(ruleJoin(in: family))
        WHERE i.family_id = \(family) AND i.user_id = \(page.user) AND i.id > \(page.after)
        ORDER BY i.id LIMIT \(page.limit)
        """
    }

    // MARK: Statements of an act

    /// Inserts a version of a rule; older versions stay.
    static func insertVersion(_ rule: IncentiveRuleResponse, by user: UserID, at now: Timestamp) -> SQL {
        """
        INSERT INTO incentive_rules
            (family_id, id, version, condition, action, approval_mode, status, created_at, created_by)
        SELECT family_id, \(rule.id), \(rule.version)::integer, \(SQLJSON(jsonText(of: rule.condition))),
               \(SQLJSON(jsonText(of: rule.action))), \(rule.approvalMode), \(rule.status), \(now), \(user)
        FROM ledger_stamp
        """
    }

    private static func jsonText(of value: some WireOutput) -> String {
        String(decoding: value.jsonBytes, as: UTF8.self)
    }

    static func supersede(_ rule: IncentiveRuleID, version: Int) -> SQL {
        """
        UPDATE incentive_rules r SET status = 'superseded' FROM ledger_stamp
        WHERE r.family_id = ledger_stamp.family_id AND r.id = \(rule) AND r.version = \(version)::integer
        """
    }

    /// Part of an act: inserts effects of rules. An effect is applied at once if its rule needs no approval or a
    /// guardian approves it now; otherwise it waits.
    static func insertEvents(_ incentives: [Incentive], approvedBy guardian: UserID? = nil, at now: Timestamp) -> SQL {
        """
        INSERT INTO incentive_events
            (family_id, id, nag_id, rule_id, rule_version, user_id, action_type, at, applied_at, approved_by)
        SELECT family_id, i.id, i.nag_id, i.rule_id, i.version::integer, i.user_id, i.reward, \(now),
               CASE WHEN i.mode = 'auto' OR \(guardian)::uuid IS NOT NULL THEN \(now) END, \(guardian)
        FROM ledger_stamp, unnest(
            \(SQLList(incentives.map(\.id))), \(SQLList(incentives.map(\.nag))), \(SQLList(incentives.map(\.rule.id))),
            \(SQLList(incentives.map(\.rule.version))), \(SQLList(incentives.map(\.user))),
            \(SQLList(incentives.map(\.terms.reward))), \(SQLList(incentives.map(\.terms.approvalMode)))
        ) AS i (id, nag_id, rule_id, version, user_id, reward, mode)
        """
    }

    static func approve(_ event: IncentiveEventID, by user: UserID, at now: Timestamp) -> SQL {
        """
        UPDATE incentive_events i SET approved_by = \(user), applied_at = \(now) FROM ledger_stamp
        WHERE i.family_id = ledger_stamp.family_id AND i.id = \(event) AND i.applied_at IS NULL
        """
    }
}
