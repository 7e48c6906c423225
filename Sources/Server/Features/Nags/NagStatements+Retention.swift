import Domain
import SQL

extension NagStatements {
    static let retentionOfEvents = RetentionRule(
        "nag_events", Retention.twoYears,
        countDue: { "SELECT count(*) AS count FROM nag_events WHERE sync_ts < \($0)" },
        clearDue: { count, moment in
            """
            DELETE FROM nag_events WHERE (family_id, sync_ts, id) IN (
                SELECT family_id, sync_ts, id FROM nag_events WHERE sync_ts < \(moment) ORDER BY sync_ts LIMIT \(count))
            """
        })

    /// The retention rule for the words of closed nags. The nags themselves stay, because points and figures refer to
    /// them.
    static let retentionOfWords = RetentionRule(
        "nag_words", Retention.twoYears,
        countDue: { "SELECT count(*) AS count FROM nags WHERE closed_at < \($0) AND \(hasWords)" },
        clearDue: { count, moment in
            """
            UPDATE nags SET description = NULL, completion_note = NULL WHERE (family_id, id) IN (
                SELECT family_id, id FROM nags WHERE closed_at < \(moment) AND \(hasWords)
                ORDER BY closed_at LIMIT \(count))
            """
        })

    /// The notes with which a person completed nags. The purge of their account erases them.
    static let completionNotesOfPerson = PersonalRows(
        keys: { recipient, limit in
            """
            SELECT n.family_id, n.id FROM memberships m
            JOIN nags n ON n.family_id = m.family_id AND n.recipient_id = m.user_id AND n.completion_note IS NOT NULL
            WHERE m.user_id = \(recipient)
            UNION ALL
            SELECT family_id, id FROM nags
            WHERE connection_id IS NOT NULL AND recipient_id = \(recipient) AND completion_note IS NOT NULL
            LIMIT \(limit)
            """
        },
        erase: { "UPDATE nags SET completion_note = NULL WHERE (family_id, id) IN (\($0))" })

    /// The words of a person's notes, in their families and in the connections whose nags they may have noted.
    static let notesOfPerson = PersonalRows(
        keys: { author, limit in
            let families = MembershipStatements.currentAndFormerFamilyIDs(of: author)
            return """
                SELECT e.family_id, e.sync_ts, e.id FROM (
                    \(families)
                    UNION (\(ConnectionStatements.currentAndFormerIDs(of: author)))
                    UNION SELECT n.family_id FROM nags n
                    WHERE n.connection_id IS NOT NULL AND n.recipient_id = ANY(ARRAY(
                        SELECT k.user_id FROM memberships k WHERE k.family_id IN (\(families))))
                ) l (id)
                JOIN nag_events e ON e.family_id = l.id AND e.actor_id = \(author) AND e.event_type = 'note_added'
                    AND e.payload ? 'text'
                LIMIT \(limit)
                """
        },
        erase: { "UPDATE nag_events SET payload = payload - 'text' WHERE (family_id, sync_ts, id) IN (\($0))" })

    /// The condition of the index `nags_with_words`.
    private static let hasWords: SQL = "(description IS NOT NULL OR completion_note IS NOT NULL)"

    static let retentionOfExcuses = RetentionRule(
        "excuses", Retention.twoYears,
        countDue: { "SELECT count(*) AS count FROM excuses WHERE at < \($0)" },
        clearDue: { count, moment in
            """
            DELETE FROM excuses WHERE (family_id, id) IN (
                SELECT family_id, id FROM excuses WHERE at < \(moment) ORDER BY at LIMIT \(count))
            """
        })
}
