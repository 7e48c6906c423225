import Contract
import Domain
import SQL

/// Every statement on stored findings.
enum AuditFindingStatements {
    private static let columns: SQL = """
        f.id, f.source, f.code, f.family_id, f.n, f.message, f.found_at, f.acknowledged_at, f.acknowledged_by, f.reason
        """

    static let countOpen: SQL = "SELECT count(*) AS count FROM audit_findings WHERE acknowledged_at IS NULL"

    static func finding(_ id: AuditFindingID) -> SQL { "SELECT \(columns) FROM audit_findings f WHERE f.id = \(id)" }

    /// Reads a page of findings, the newest first.
    static func page(_ query: AuditFindingsQuery) -> SQL {
        query.page.select(
            columns, from: "audit_findings", as: "f", where: query.isOpen ? "f.acknowledged_at IS NULL" : "true",
            orderBy: "f.found_at DESC, f.id DESC")
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
        UPDATE audit_findings f SET acknowledged_at = \(finding.acknowledgedAt),
            acknowledged_by = \(finding.acknowledgedBy), reason = \(finding.reason)
        FROM ledger_stamp WHERE f.id = \(finding.id) AND f.acknowledged_at IS NULL
        """
    }
}
