import Domain
import SQL

extension NagStatements {
    /// The nags that a person made or received in a family. The note of a completion is its recipient's, and so is a
    /// dismissal.
    static func exported(_ page: ExportPage, in family: FamilyID) -> SQL {
        """
        SELECT n.id, jsonb_build_object(
            'id', n.id, 'family_id', n.family_id, 'creator_id', n.creator_id, 'recipient_id', n.recipient_id,
            'category', n.category, 'done_definition', n.done_definition, 'description', n.description,
            'recurrence', n.recurrence, 'status', n.status, 'due_at', \(ExportPage.moment("n.due_at")),
            'created_at', \(ExportPage.moment("n.created_at")),
            'completed_at', \(ExportPage.moment("n.completed_at")),
            'completion_note', CASE WHEN n.recipient_id = \(page.user) THEN n.completion_note END)::text AS json
        FROM nags n WHERE n.family_id = \(family) AND n.id > \(page.after)
            AND (n.creator_id = \(page.user) OR n.recipient_id = \(page.user))
        ORDER BY n.id LIMIT \(page.limit)
        """
    }

    /// The excuses that a person handed in.
    static func exportedExcuses(_ page: ExportPage, in family: FamilyID) -> SQL {
        """
        SELECT e.id, jsonb_build_object(
            'id', e.id, 'family_id', e.family_id, 'nag_id', e.nag_id, 'text', e.text, 'summary', e.summary,
            'category', e.category, 'at', \(ExportPage.moment("e.at")))::text AS json
        FROM excuses e WHERE e.family_id = \(family) AND e.author_id = \(page.user) AND e.id > \(page.after)
        ORDER BY e.id LIMIT \(page.limit)
        """
    }

    /// The notes that a person added to nags.
    static func exportedNotes(_ page: ExportPage, in family: FamilyID) -> SQL {
        """
        SELECT e.id, jsonb_build_object(
            'id', e.id, 'family_id', e.family_id, 'nag_id', e.nag_id, 'text', e.payload->>'text',
            'at', \(ExportPage.moment("e.at")))::text AS json
        FROM nag_events e WHERE e.family_id = \(family) AND e.actor_id = \(page.user)
            AND e.event_type = 'note_added' AND e.id > \(page.after)
        ORDER BY e.id LIMIT \(page.limit)
        """
    }
}
