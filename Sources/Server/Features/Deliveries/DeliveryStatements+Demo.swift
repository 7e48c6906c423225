import Domain
import SQL

extension DeliveryStatements {
    /// Marks the pending deliveries of a demo family as sent at the time at which they were stored. Those of open nags
    /// stay in the queue, so that their recipients get reminders as usual.
    static func markDemoSent(in family: FamilyID, at now: Timestamp) -> SQL {
        """
        UPDATE deliveries d SET status = 'sent', provider_ref = 'demo', sent_at = d.created_at,
            next_attempt = (SELECT \(now)::timestamptz FROM nags n
                            WHERE n.family_id = d.family_id AND n.id = d.nag_id AND n.status = 'open')
        WHERE d.family_id = \(family) AND d.status = 'pending'
        """
    }
}
