import Domain
import SQL

extension IngestionStatements {
    static let retentionOfEnrichments = RetentionRule(
        "enrichments", Retention.twoYears,
        countDue: { "SELECT count(*) AS count FROM enrichments WHERE made_at < \($0)" },
        clearDue: { count, moment in
            """
            DELETE FROM enrichments WHERE (family_id, event_id, kind) IN (
                SELECT family_id, event_id, kind FROM enrichments WHERE made_at < \(moment)
                ORDER BY made_at LIMIT \(count))
            """
        })

    /// The retention rule for inputs. An input stays until its enrichments have been deleted.
    static let retentionOfInputs = RetentionRule(
        "inputs", Retention.twoYears,
        countDue: { "SELECT count(*) AS count FROM inputs i WHERE received_at < \($0) AND \(hasNoEnrichments)" },
        clearDue: { count, moment in
            """
            DELETE FROM inputs WHERE (family_id, user_id, id) IN (
                SELECT family_id, user_id, id FROM inputs i WHERE received_at < \(moment) AND \(hasNoEnrichments)
                ORDER BY received_at LIMIT \(count))
            """
        })

    private static let hasNoEnrichments: SQL = """
        NOT EXISTS (SELECT FROM enrichments e WHERE e.family_id = i.family_id AND e.event_id = i.event_id)
        """

    /// Reads a page of a person's inputs, each with its enrichments, for an export.
    /// - Parameter family: nil for connections.
    static func exported(_ page: ExportPage, in family: FamilyID?) -> SQL {
        let ledger: SQL =
            family.map { "i.family_id = \($0)" } ?? "i.family_id IN (\(NagStatements.nagConnectionIDs(of: page.user)))"
        return """
            SELECT i.id, jsonb_build_object(
                'id', i.id, 'family_id', i.family_id, 'kind', i.kind, 'nag_id', i.nag_id, 'source', i.source,
                'confidence', i.confidence, 'source_context', i.source_context,
                'made_at', \(ExportPage.moment("i.made_at")), 'received_at', \(ExportPage.moment("i.received_at")),
                'outcome', i.outcome, 'event_id', i.event_id, 'code', i.code, 'message', i.message,
                'import_id', i.import_id, 'earlier_import_ids', i.earlier_imports, 'draft_id', i.draft_id,
                'enrichments', coalesce((
                    SELECT jsonb_agg(
                        jsonb_build_object(
                            'kind', e.kind, 'body', e.body, 'source', e.source,
                            'made_at', \(ExportPage.moment("e.made_at"))) ORDER BY e.kind)
                    FROM enrichments e WHERE e.family_id = i.family_id AND e.event_id = i.event_id), '[]'))::text AS json
            FROM inputs i WHERE \(ledger) AND i.user_id = \(page.user) AND i.id > \(page.after)
            ORDER BY i.id LIMIT \(page.limit)
            """
    }

    /// The summaries of a person's inputs in the families that they are or were in.
    static let summariesOfPerson = PersonalRows(
        keys: { user, limit in
            """
            SELECT e.family_id, e.event_id, e.kind
            FROM inputs i JOIN enrichments e ON e.family_id = i.family_id AND e.event_id = i.event_id
            WHERE i.user_id = \(user) AND e.kind = 'summary'
                AND i.family_id IN (\(MembershipStatements.currentAndFormerFamilyIDs(of: user)))
            LIMIT \(limit)
            """
        },
        erase: { "DELETE FROM enrichments WHERE (family_id, event_id, kind) IN (\($0))" })
}
