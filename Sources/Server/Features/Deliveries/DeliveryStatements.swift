import Domain
import SQL

/// Every statement on deliveries: notifications for somebody's devices.
enum DeliveryStatements {
    /// Part of an act: notifies somebody of an event of the same act. It stays pending until a worker sends it.
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
