import Domain
import SQL

extension ExecutionStatements {
    /// Reads a page of a person's own executions in a family, for an export.
    static func exported(_ page: ExportPage, in family: FamilyID) -> SQL {
        """
        SELECT e.id, jsonb_build_object(
            'id', e.id, 'family_id', e.family_id, 'trace_id', e.trace_id, 'question_id', e.question_id,
            'operation', e.operation, 'nag_id', e.nag_id, 'error_code', e.error_code,
            'created_at', \(ExportPage.moment("e.created_at")), 'execution', \(StoredReport.completeJSON))::text AS json
        FROM ai_executions e
        WHERE e.family_id = \(family) AND e.user_id = \(page.user) AND e.id > \(page.after)
        ORDER BY e.id LIMIT \(page.limit)
        """
    }
}
