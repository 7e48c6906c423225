import Domain
import SQL

/// Every statement on deliveries: what is meant to be sent to somebody's devices.
enum DeliveryStatements {
    /// A statement of an act: tells somebody of an event of the same act. It waits for whoever sends.
    static func insert(
        _ id: DeliveryID, of event: EventID, on nag: NagID, to user: UserID, by channel: DeliveryChannel,
        at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO deliveries
            (family_id, id, nag_id, nag_event_id, user_id, channel, status, next_attempt, created_at)
        SELECT family_id, \(id), \(nag), \(event), \(user), \(channel.rawValue), 'pending', \(now), \(now)
        FROM ledger_stamp
        """
    }
}
