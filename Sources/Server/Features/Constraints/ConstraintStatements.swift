import Contract
import Domain
import DomainSQL
import SQL

/// Every statement on constraints.
enum ConstraintStatements {
    private static let columns: SQL = """
        c.id, c.family_id, c.owner_id, c.name, c.type, c.enabled, c.priority, c.conditions::text AS conditions,
        c.action::text AS action, c.created_by, c.created_at, c.updated_at
        """

    /// The members of a constraint, as pairs for a JSON object.
    private static let jsonMembers: SQL = """
        'id', c.id, 'name', c.name, 'type', c.type, 'enabled', c.enabled, 'priority', c.priority,
        'conditions', c.conditions, 'action', c.action
        """

    /// A condition: the person sees the constraint `c`. It is the family's, or the person's own.
    /// - Parameter scope: the scope of the constraint; nil for either.
    private static func isVisible(to user: UserID, _ scope: ConstraintScope?, in family: FamilyID) -> SQL {
        let isInScope: SQL =
            switch scope {
            case .family: "c.owner_id IS NULL"
            case .own: "c.owner_id = \(user)"
            case nil: "(c.owner_id IS NULL OR c.owner_id = \(user))"
            }
        return "c.family_id = \(family) AND \(isInScope)"
    }

    /// Reads a page of constraints in the order of evaluation.
    static func page(_ page: PageRequest, visibleTo user: UserID, _ query: ConstraintQuery) -> SQL {
        page.select(
            columns, from: "ai_constraints", as: "c", where: isVisible(to: user, query.scope, in: query.familyID),
            orderBy: "c.priority, c.id")
    }

    /// Reads all constraints that the person sees, also disabled ones, in the order of evaluation.
    /// - Parameter scope: the scope of the constraints; nil for both.
    static func all(visibleTo user: UserID, _ scope: ConstraintScope?, in family: FamilyID) -> SQL {
        """
        SELECT \(columns) FROM ai_constraints c WHERE \(isVisible(to: user, scope, in: family))
        ORDER BY c.priority, c.id
        """
    }

    static func constraint(_ id: ConstraintID, visibleTo user: UserID, in family: FamilyID) -> SQL {
        "SELECT \(columns) FROM ai_constraints c WHERE c.id = \(id) AND \(isVisible(to: user, nil, in: family))"
    }

    /// Reads `id`, `priority` and `is_own` of the constraints that the person sees, and as `texts` the number of texts
    /// for which their conditions search a question's words.
    static func positions(visibleTo user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT c.id, c.priority, c.owner_id IS NOT NULL AS is_own, (
            SELECT coalesce(sum(1 + length(x->>'value') - length(replace(x->>'value', '|', ''))), 0)::integer
            FROM jsonb_array_elements(c.conditions) x WHERE x->>'field' = 'content') AS texts
        FROM ai_constraints c
        WHERE \(isVisible(to: user, nil, in: family))
        """
    }

    /// Reads a page of the constraints of a family and its members, in the order of their ids, each with the owner's
    /// `pseudonym`, which is null for the family's constraints.
    static func withOwners(after last: ConstraintID?, limit: Int, in family: FamilyID) -> SQL {
        let isNext: SQL = last.map { "AND c.id > \($0)" } ?? ""
        return """
            SELECT \(columns), u.pseudonym FROM ai_constraints c LEFT JOIN users u ON u.id = c.owner_id
            WHERE c.family_id = \(family) \(isNext) ORDER BY c.id LIMIT \(limit)
            """
    }

    /// Reads the person's own constraints.
    static func exported(_ page: ExportPage, in family: FamilyID) -> SQL {
        """
        SELECT c.id, jsonb_build_object(
            \(jsonMembers), 'family_id', c.family_id, 'created_at', \(ExportPage.moment("c.created_at")),
            'updated_at', \(ExportPage.moment("c.updated_at")))::text AS json
        FROM ai_constraints c
        WHERE c.family_id = \(family) AND c.owner_id = \(page.user) AND c.id > \(page.after)
        ORDER BY c.id LIMIT \(page.limit)
        """
    }

    /// An expression: the enabled constraints that a person obeys, as a JSON array in the order of evaluation; null for
    /// none. The row `m` of the enclosing statement names the family and the person.
    static let enabledAsJSON: SQL = """
        (SELECT jsonb_agg(jsonb_build_object(
            \(jsonMembers), 'scope', CASE WHEN c.owner_id IS NULL THEN 'family' ELSE 'own' END)
            ORDER BY c.priority, c.id)
         FROM ai_constraints c
         WHERE c.family_id = m.family_id AND (c.owner_id IS NULL OR c.owner_id = m.user_id) AND c.enabled)
        """

    // MARK: Statements of an act

    static func insert(_ constraints: [ConstraintResponse]) -> SQL {
        """
        INSERT INTO ai_constraints (family_id, id, owner_id, name, type, enabled, priority, conditions, action,
                                    created_by, created_at, updated_at, changed_by)
        SELECT family_id, n.id, CASE n.scope WHEN 'own' THEN n.creator END, n.name, n.type, n.enabled = 'true',
               n.priority::integer, n.conditions::jsonb, n.action::jsonb, n.creator, n.at, n.at, seq
        FROM ledger_stamp, unnest(
            \(SQLList(constraints.map(\.id))), \(SQLList(constraints.map(\.terms.scope.rawValue))),
            \(SQLList(constraints.map(\.terms.name))), \(SQLList(constraints.map(\.terms.type.rawValue))),
            \(SQLList(constraints.map { "\($0.terms.isEnabled)" })), \(SQLList(constraints.map(\.terms.priority))),
            \(SQLList(constraints.map { jsonText(of: $0.terms.conditions) })),
            \(SQLList(constraints.map { jsonText(of: $0.terms.action) })),
            \(SQLList(constraints.map(\.createdBy))), \(SQLList(constraints.map(\.createdAt)))
        ) AS n (id, scope, name, type, enabled, priority, conditions, action, creator, at)
        """
    }

    static func update(_ constraint: ConstraintResponse) -> SQL {
        let terms = constraint.terms
        return """
            UPDATE ai_constraints c SET name = \(terms.name), type = \(terms.type), enabled = \(terms.isEnabled),
                priority = \(terms.priority), conditions = \(SQLJSON(jsonText(of: terms.conditions))),
                action = \(SQLJSON(jsonText(of: terms.action))), updated_at = \(constraint.updatedAt),
                changed_by = ledger_stamp.seq
            FROM ledger_stamp WHERE c.family_id = ledger_stamp.family_id AND c.id = \(constraint.id)
            """
    }

    /// Gives some constraints their new priorities.
    static func move(_ moves: [ConstraintMove], at now: Timestamp) -> SQL {
        """
        UPDATE ai_constraints c SET priority = m.priority::integer, updated_at = \(now), changed_by = ledger_stamp.seq
        FROM ledger_stamp, unnest(\(SQLList(moves.map(\.id))), \(SQLList(moves.map(\.priority)))) AS m (id, priority)
        WHERE c.family_id = ledger_stamp.family_id AND c.id = m.id
        """
    }

    static func delete(_ id: ConstraintID) -> SQL {
        """
        DELETE FROM ai_constraints c USING ledger_stamp
        WHERE c.family_id = ledger_stamp.family_id AND c.id = \(id)
        """
    }

    /// Part of a departure: deletes the person's own constraints.
    static func deleteAll(of user: UserID) -> SQL {
        """
        DELETE FROM ai_constraints c USING ledger_stamp
        WHERE c.family_id = ledger_stamp.family_id AND c.owner_id = \(user)
        """
    }

    private static func jsonText(of value: some WireOutput) -> String {
        String(decoding: value.jsonBytes, as: UTF8.self)
    }
}
