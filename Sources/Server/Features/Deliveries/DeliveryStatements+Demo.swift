import Domain
import SQL

extension DeliveryStatements {
    /// The pending deliveries of a demo's family were sent when they were stored. Those of open nags stay in the queue, so
    /// that the recipients are reminded as of any other.
    static func endDemo(in family: FamilyID, at now: Timestamp) -> SQL {
        """
        UPDATE deliveries d SET status = 'sent', provider_ref = 'demo', sent_at = d.created_at,
            next_attempt = (SELECT \(now)::timestamptz FROM nags n
                            WHERE n.family_id = d.family_id AND n.id = d.nag_id AND n.status = 'open')
        WHERE d.family_id = \(family) AND d.status = 'pending'
        """
    }
}
