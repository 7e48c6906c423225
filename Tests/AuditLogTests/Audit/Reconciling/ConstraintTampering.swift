import Audit

@testable import ServerTestKit

extension Tampering {
    static let constraints = [
        Tampering(
            "a constraint's action changed", .constraint, .differs,
            "UPDATE ai_constraints SET action = '{\"type\": \"force_cloud\"}' WHERE owner_id IS NULL"),
        Tampering(
            "a constraint switched off", .constraint, .differs,
            "UPDATE ai_constraints SET enabled = NOT enabled WHERE owner_id IS NOT NULL"),
        Tampering(
            "a constraint moved", .constraint, .differs, "UPDATE ai_constraints SET priority = priority + 100"),
        Tampering(
            "a family's constraint made somebody's own", .constraint, .differs,
            "UPDATE ai_constraints SET owner_id = created_by, priority = 500 + priority WHERE owner_id IS NULL"),
        Tampering(
            "a constraint added", .constraint, .noEntry,
            """
            INSERT INTO ai_constraints (family_id, id, owner_id, name, type, enabled, priority, conditions, action,
                                        created_by, created_at, updated_at, changed_by)
            SELECT family_id, gen_random_uuid(), owner_id, name, type, enabled, 999, conditions, action, created_by,
                   created_at, updated_at, changed_by
            FROM ai_constraints LIMIT 1
            """),
        Tampering(
            "a constraint deleted", .constraint, .noRow,
            "DELETE FROM ai_constraints WHERE id = (SELECT min(id::text)::uuid FROM ai_constraints)"),
    ]
}
