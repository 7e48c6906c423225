import Contract
import Domain
import SQL

/// Every statement on deliveries: notifications for somebody's devices.
enum DeliveryStatements {
    /// A page of a nag's deliveries and its `total`, newest first; with no delivery in it, one row of nulls.
    static func page(_ page: PageRequest, of nag: NagID, in family: FamilyID) -> SQL {
        """
        SELECT d.*, t.total
        FROM (SELECT count(*) AS total FROM deliveries WHERE family_id = \(family) AND nag_id = \(nag)) t
        LEFT JOIN (
            SELECT id, nag_event_id, channel, status, provider_ref, created_at FROM deliveries
            WHERE family_id = \(family) AND nag_id = \(nag)
            ORDER BY created_at DESC, id DESC LIMIT \(page.limit) OFFSET \(page.offset)
        ) d ON true
        ORDER BY d.created_at DESC, d.id DESC
        """
    }

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
