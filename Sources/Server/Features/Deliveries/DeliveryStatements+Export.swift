import Domain
import SQL

extension DeliveryStatements {
    /// Reads a page of the deliveries to a person, without dropped ones, for an export.
    /// - Parameter family: nil for those about connections, and for notices outside families.
    static func exported(_ page: ExportPage, in family: FamilyID?) -> SQL {
        let ledger: SQL =
            family.map { "d.family_id = \($0)" }
                ?? """
                d.family_id IN (
                    SELECT \(FamilyID.outside)::uuid
                    UNION ALL
                    \(ConnectionStatements.currentAndFormerIDs(of: page.user)))
                """
        return """
            SELECT d.id, jsonb_build_object(
                'id', d.id, 'family_id', d.family_id, 'nag_id', d.nag_id, 'cause', \(eventType),
                'channel', d.channel, 'status', d.status, 'reminders', d.repeats,
                'created_at', \(ExportPage.moment("d.created_at")),
                'sent_at', \(ExportPage.moment("d.sent_at")))::text AS json
            FROM deliveries d \(eventJoin)
            WHERE \(ledger) AND d.user_id = \(page.user) AND NOT d.dropped AND d.id > \(page.after)
            ORDER BY d.id LIMIT \(page.limit)
            """
    }
}
