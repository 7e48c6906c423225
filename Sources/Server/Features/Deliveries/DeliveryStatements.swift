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

    // MARK: For administrators

    private static let reviewed: SQL = """
        d.id, d.family_id, d.nag_id, d.user_id, d.channel, d.status, d.attempts::bigint AS attempts, d.failure, d.dropped,
        d.created_at, d.next_attempt
        """

    /// A page and its `total`, the newest first; with no delivery in it, one row of nulls.
    static func reviews(_ query: DeliveryReviewQuery) -> SQL {
        let filter: SQL = query.status.map { "WHERE status = \($0.rawValue)" } ?? ""
        return """
            SELECT \(reviewed), t.total
            FROM (SELECT count(*) AS total FROM deliveries \(filter)) t
            LEFT JOIN (
                SELECT * FROM deliveries \(filter)
                ORDER BY created_at DESC, id DESC LIMIT \(query.page.limit) OFFSET \(query.page.offset)
            ) d ON true
            ORDER BY d.created_at DESC, d.id DESC
            """
    }

    /// A delivery and its recipient's pseudonym.
    static func review(_ delivery: DeliveryID) -> SQL {
        """
        SELECT \(reviewed), u.pseudonym FROM deliveries d LEFT JOIN users u ON u.id = d.user_id
        WHERE d.id = \(delivery)
        """
    }

    /// Part of an act: a failed delivery is pending again.
    static func resend(_ delivery: DeliveryID, in family: FamilyID, at now: Timestamp) -> SQL {
        """
        UPDATE deliveries SET status = 'pending', next_attempt = \(now), attempts = 0, failure = NULL, dropped = false
        FROM ledger_stamp
        WHERE deliveries.family_id = \(family) AND deliveries.id = \(delivery) AND deliveries.status = 'failed'
        """
    }

    // MARK: Parts of acts

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
