import Audit
import Contract
import Domain
import SQL

/// The statements that read the audit log's tables for people. Acts of the ledger write entries and delete them.
enum AuditStatements {
    /// The columns that `Contract.AuditEntry` and `Sealing.openBody` read: of an entry `e`, its body and its people.
    private static let columns: SQL = """
        e.family_id, e.n, e.at, e.kind, e.actor, e.subject, e.resource, e.trace, e.request, e.commit, e.prev, e.hash,
        p.salt, p.body, p.key_id, k.master, k.wrapped, a.id AS actor_id, s.id AS subject_id
        """
    private static let joins: SQL = """
        LEFT JOIN audit_payload p ON p.family_id = e.family_id AND p.n = e.n
        LEFT JOIN audit_subject_key k ON k.id = p.key_id
        LEFT JOIN users a ON a.pseudonym = e.actor
        LEFT JOIN users s ON s.pseudonym = e.subject
        """

    /// Reads for each `plan`, by its index, the position that it reaches with `depth` entries: `at`, and `n` in a chain.
    /// They are null if each of the plan's ranges has fewer entries than its share of `depth`.
    static func reachedPositions(_ plans: [AuditQueryPlan], _ span: AuditSpan, _ depth: Int) -> SQL {
        .joined(
            plans.enumerated().map { index, plan in
                "SELECT \(index) AS plan, w.at, w.n FROM (\(plan.reachedPosition(span, depth))) w"
            }, separator: " UNION ALL ")
    }

    /// Reads the entries of a plan in a span that match the filter, newest first; more than the limit if there are
    /// more.
    static func page(_ plan: AuditQueryPlan, _ filter: AuditFilter, _ span: AuditSpan, limit: Int) -> SQL {
        // The limit is a literal, because PostgreSQL plans the statement without its values and should expect few rows.
        let limitClause: SQL = limit <= 50 ? "LIMIT 51" : limit <= 100 ? "LIMIT 101" : "LIMIT 201"
        return """
            SELECT \(columns) FROM (
                SELECT e.* FROM (\(plan.entries(filter, span, limit: limitClause))) e
                ORDER BY e.at DESC, e.family_id DESC, e.n DESC \(limitClause)
            ) e \(joins) ORDER BY e.at DESC, e.family_id DESC, e.n DESC
            """
    }

    /// Returns a subquery for the trace of the act with that number in a family.
    static func trace(ofAct number: SQL, in family: SQL) -> SQL {
        "(SELECT a.trace FROM audit_entry a WHERE a.family_id = \(family) AND a.n = \(number))"
    }

    /// Reads the `id` and `pseudonym` of each of the accounts that has a pseudonym.
    static func pseudonyms(of users: [UserID]) -> SQL {
        "SELECT id, pseudonym FROM users WHERE id = ANY(\(SQLList(users))) AND pseudonym IS NOT NULL"
    }

    /// Reads present and former members of a family. Only present ones have names: somebody who left may have changed
    /// theirs.
    static func currentAndFormerMembers(of family: FamilyID) -> SQL {
        """
        SELECT u.id, u.pseudonym, m.status = 'active' AS is_member, m.role,
               CASE WHEN m.status = 'active' THEN u.display_name END AS name
        FROM memberships m JOIN users u ON u.id = m.user_id
        WHERE m.family_id = \(family) AND u.pseudonym IS NOT NULL
        ORDER BY m.status, m.joined_at, u.id LIMIT 1000
        """
    }

    static let currentAndFormerAdministrators: SQL = """
        SELECT u.id, u.pseudonym, a.revoked_at IS NULL AND u.status <> 'deleted' AS is_current, u.email AS name
        FROM admins a JOIN users u ON u.id = a.user_id WHERE u.pseudonym IS NOT NULL
        ORDER BY a.revoked_at IS NOT NULL OR u.status = 'deleted', a.created_at, u.id LIMIT 1000
        """

    static func entry(_ family: FamilyID, _ number: Int64) -> SQL {
        "SELECT \(columns) FROM audit_entry e \(joins) WHERE e.family_id = \(family) AND e.n = \(number)"
    }

    /// Reads the newest 50 entries of an administrator's reads under a trace since a time, newest first.
    static func newestAdminReads(by person: Pseudonym, under trace: TraceID, since: Timestamp) -> SQL {
        """
        SELECT \(columns) FROM audit_entry e \(joins)
        WHERE e.trace = \(trace) AND e.at >= \(since) AND e.actor = \(person) AND e.family_id = \(FamilyID.outside)
          AND e.kind = \(AuditKind.adminRead.rawValue)
        ORDER BY e.at DESC LIMIT 50
        """
    }

    /// All kinds in the log, found by one index step for each.
    static let kinds: SQL = """
        WITH RECURSIVE kinds AS (
            (SELECT kind FROM audit_entry ORDER BY kind LIMIT 1)
            UNION ALL
            SELECT (SELECT e.kind FROM audit_entry e WHERE e.kind > k.kind ORDER BY e.kind LIMIT 1)
            FROM kinds k WHERE k.kind IS NOT NULL
        )
        SELECT kind FROM kinds WHERE kind IS NOT NULL
        """

    /// Counts the entries of each kind in each bucket, among the newest 200,000 of a time range. The buckets begin at
    /// `starts` and are numbered from 0.
    static func activity(_ family: FamilyID?, from: Timestamp, to: Timestamp, starts: [Timestamp]) -> SQL {
        let range: SQL =
            if let family {
                """
                e.family_id = \(family) AND e.n >= (SELECT audit_number_at(\(family), \(from)))
                AND e.n < (SELECT audit_number_at(\(family), \(to))) ORDER BY e.n DESC
                """
            } else {
                "e.n > 0 AND e.at >= \(from) AND e.at < \(to) ORDER BY e.at DESC"
            }
        return """
            SELECT kind, width_bucket(at, \(SQLList(starts)))::bigint - 1 AS bucket, count(*)::bigint AS entries
            FROM (SELECT e.kind, e.at FROM audit_entry e WHERE \(range)
                  LIMIT \(AuditOverview.maxEntriesPerChart)) e
            GROUP BY 1, 2 ORDER BY 1, 2
            """
    }

    /// Reads a page of families, the most recently active first, and one more than the limit.
    /// - Parameter pattern: a LIKE pattern for the name or the last eight digits of the id.
    static func families(pattern: String?, id: FamilyID?, offset: Int64, limit: Int) -> SQL {
        var conditions: [SQL] = ["c.seq > 0"]
        if let id { conditions.append("c.family_id = \(id)") }
        if let pattern {
            conditions.append("(f.name ILIKE \(pattern) OR right(c.family_id::text, 8) ILIKE \(pattern))")
        }
        return """
            SELECT c.family_id, f.name, c.seq, c.ts FROM family_clock c LEFT JOIN families f ON f.id = c.family_id
            WHERE \(.joined(conditions, separator: " AND "))
            ORDER BY c.ts DESC, c.family_id LIMIT \(limit + 1) OFFSET \(offset)
            """
    }
}
