import Domain
import SQL

extension NagStatements {
    /// Reads a page of the nags that a person created or received in a family or over connections, for an export. Only
    /// the recipient's export contains the note of the completion.
    /// - Parameter family: nil for connections.
    static func exportedNags(_ page: ExportPage, in family: FamilyID?) -> SQL {
        """
        SELECT n.id, jsonb_build_object(
            'id', n.id, 'family_id', \(familyID), 'connection_id', n.connection_id, 'creator_id', n.creator_id,
            'recipient_id', n.recipient_id,
            'category', n.category, 'done_definition', n.done_definition, 'description', n.description,
            'recurrence', n.recurrence, 'status', n.status, 'due_at', \(ExportPage.moment("n.due_at")),
            'created_at', \(ExportPage.moment("n.created_at")),
            'completed_at', \(ExportPage.moment("n.completed_at")),
            'completion_note', CASE WHEN n.recipient_id = \(page.user) THEN n.completion_note END)::text AS json
        FROM nags n WHERE \(isExported("n.family_id", family)) AND n.id > \(page.after)
            AND (n.creator_id = \(page.user) OR n.recipient_id = \(page.user))
        ORDER BY n.id LIMIT \(page.limit)
        """
    }

    /// An expression: the family of a nag `n`; null for one of a connection.
    private static let familyID: SQL = "CASE WHEN n.connection_id IS NULL THEN n.family_id END"

    /// A condition: `ledger` is the family's, or, if `family` is nil, the nag `n` is of a connection.
    private static func isExported(_ ledger: SQL, _ family: FamilyID?) -> SQL {
        family.map { "\(ledger) = \($0)" } ?? "n.connection_id IS NOT NULL"
    }

    /// Selects the IDs of the connections over which a person created or received nags.
    static func nagConnectionIDs(of user: UserID) -> SQL {
        """
        SELECT n.family_id FROM nags n
        WHERE n.connection_id IS NOT NULL AND (n.creator_id = \(user) OR n.recipient_id = \(user))
        """
    }

    /// Reads a page of the excuses that a person submitted in a family or over connections, for an export.
    /// - Parameter family: nil for connections.
    static func exportedExcuses(_ page: ExportPage, in family: FamilyID?) -> SQL {
        """
        SELECT e.id, jsonb_build_object(
            'id', e.id, 'family_id', \(familyID), 'nag_id', e.nag_id, 'text', e.text, 'summary', e.summary,
            'category', e.category, 'at', \(ExportPage.moment("e.at")))::text AS json
        FROM excuses e JOIN nags n ON n.family_id = e.family_id AND n.id = e.nag_id
        WHERE \(isExported("e.family_id", family)) AND e.author_id = \(page.user) AND n.recipient_id = \(page.user)
            AND e.id > \(page.after)
        ORDER BY e.id LIMIT \(page.limit)
        """
    }

    /// Reads a page of the notes that a person added to nags, for an export.
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
