import Domain
import SQL

extension AIStatements {
    /// Reads a page of the answers to a person's own questions, and of the digests that they sent or received, for an
    /// export.
    /// - Parameter family: nil for answers about nags of connections.
    static func exported(_ page: ExportPage, in family: FamilyID?) -> SQL {
        let ledgerCondition: SQL =
            family.map { "e.family_id = \($0)" } ?? "e.family_id IN (\(NagStatements.nagConnectionIDs(of: page.user)))"
        return """
            SELECT e.id, jsonb_build_object(
                'id', e.id, 'family_id', e.family_id, 'nag_id', e.nag_id, 'prompt_type', e.prompt_type,
                'tone', e.tone, 'summary', e.summary, 'at', \(ExportPage.moment("e.at")))::text AS json
            FROM ai_mediation_events e
            WHERE \(ledgerCondition) AND \(isReader("\(page.user)", "e"))
                AND e.id > \(page.after)
            ORDER BY e.id LIMIT \(page.limit)
            """
    }
}
