import Contract
import Domain
import SQL

/// Every statement on findings that are kept.
enum AuditFindingStatements {
    private static let columns: SQL = """
        f.id, f.source, f.code, f.family_id, f.n, f.message, f.found_at, f.acknowledged_at, f.acknowledged_by, f.reason
        """

    static let countOpen: SQL = "SELECT count(*) AS count FROM audit_findings WHERE acknowledged_at IS NULL"

    static func finding(_ id: AuditFindingID) -> SQL { "SELECT \(columns) FROM audit_findings f WHERE f.id = \(id)" }

    /// A page, the newest first, each with the `total`; at least one row.
    static func page(_ query: AuditFindingsQuery) -> SQL {
        let filter: SQL = query.isOpen ? "WHERE acknowledged_at IS NULL" : ""
        return """
            SELECT t.total, f.* FROM (SELECT count(*) AS total FROM audit_findings \(filter)) t
            LEFT JOIN (
                SELECT * FROM audit_findings \(filter)
                ORDER BY found_at DESC, id DESC LIMIT \(query.page.limit) OFFSET \(query.page.offset)
            ) f ON true
            ORDER BY f.found_at DESC, f.id DESC
            """
    }

    static func insert(_ finding: KeptFinding) -> SQL {
        """
        INSERT INTO audit_findings (id, source, code, family_id, n, message, found_at)
        VALUES (\(finding.id), \(finding.source), \(finding.code), \(finding.familyID),
                \(finding.n.map { Int64($0) })::bigint, \(finding.message), \(finding.foundAt))
        ON CONFLICT DO NOTHING
        """
    }

    /// Part of an act: acknowledges a finding.
    static func acknowledge(_ finding: KeptFinding) -> SQL {
        """
        UPDATE audit_findings f SET acknowledged_at = \(finding.acknowledgedAt), acknowledged_by = \(finding.acknowledgedBy),
            reason = \(finding.reason)
        FROM ledger_stamp WHERE f.id = \(finding.id) AND f.acknowledged_at IS NULL
        """
    }
}
