import Domain
import SQL

extension DraftStatements {
    /// The time for which drafts are stored. Within it, a repeated execution of a draft returns the first response.
    private static let period = Timestamp.Span.days(30)

    static let retention = RetentionRule(technical: "drafts", period) { count, now in
        """
        DELETE FROM drafts WHERE (family_id, id) IN (
            SELECT family_id, id FROM drafts WHERE created_at < \(now - period)
            ORDER BY created_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }

    /// Part of a purge: deletes the drafts that the person is the author of.
    static func deleteAll(of user: UserID) -> SQL {
        """
        DELETE FROM drafts d USING ledger_stamp, memberships m
        WHERE m.user_id = \(user) AND d.family_id = m.family_id AND d.author_id = m.user_id
        """
    }

    /// Reads the drafts that the person is the author of.
    static func exported(_ page: ExportPage, in family: FamilyID) -> SQL {
        """
        SELECT d.id, jsonb_build_object(
            'id', d.id, 'family_id', d.family_id, 'kind', d.kind, 'nag_id', d.nag_id, 'source', d.source,
            'body', d.body, 'body_hash', d.body_hash, 'state', d.state, 'version', d.version,
            'import_id', d.import_id, 'item_id', d.item_id,
            'created_at', \(ExportPage.moment("d.created_at")),
            'executed_at', \(ExportPage.moment("d.executed_at")), 'result_id', d.result_id)::text AS json
        FROM drafts d
        WHERE d.family_id = \(family) AND d.author_id = \(page.user) AND d.id > \(page.after)
        ORDER BY d.id LIMIT \(page.limit)
        """
    }
}
