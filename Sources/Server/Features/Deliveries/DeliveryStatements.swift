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

    /// What the delivery `d` tells of, whose nag's event is `e`.
    static let event: SQL = """
        coalesce(d.connection_event, CASE WHEN d.draft_id IS NOT NULL THEN 'digest_sent' END, e.event_type)
        """

    // MARK: For administrators

    private static let reviewed: SQL = """
        d.id, d.family_id, d.nag_id, d.user_id, d.channel, d.status, d.attempts::bigint AS attempts, d.failure, d.dropped,
        d.repeats::bigint AS repeats, d.created_at, d.next_attempt, \(event) AS cause
        """
    private static let eventJoin: SQL = """
        LEFT JOIN nag_events e ON e.family_id = d.family_id AND e.nag_id = d.nag_id AND e.id = d.nag_event_id
        """

    /// A page and its `total`, the newest first; with no delivery in it, one row of nulls.
    static func reviews(_ query: DeliveryReviewQuery) -> SQL {
        let status: SQL = query.status.map { "status = \($0.rawValue)" } ?? "true"
        let dropped: SQL = query.isDropped.map { $0 ? "dropped" : "NOT dropped" } ?? "true"
        let filter: SQL = "WHERE \(status) AND \(dropped)"
        return """
            SELECT \(reviewed), t.total
            FROM (SELECT count(*) AS total FROM deliveries \(filter)) t
            LEFT JOIN (
                SELECT * FROM deliveries \(filter)
                ORDER BY created_at DESC, id DESC LIMIT \(query.page.limit) OFFSET \(query.page.offset)
            ) d ON true
            \(eventJoin)
            ORDER BY d.created_at DESC, d.id DESC
            """
    }

    /// A delivery and its recipient's pseudonym.
    static func review(_ delivery: DeliveryID) -> SQL {
        """
        SELECT \(reviewed), u.pseudonym FROM deliveries d LEFT JOIN users u ON u.id = d.user_id
        \(eventJoin)
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

    /// The same for somebody whose preferences the act has not read: by text message where they want only that and have
    /// agreed to it, otherwise by push. Inserts nothing for somebody whom neither reaches.
    /// - Parameter onlyIfTold: inserts nothing either where every earlier notification of the nag has failed.
    static func insert(
        _ id: DeliveryID, of event: EventID, on nag: NagID, to user: UserID, onlyIfTold: Bool = false,
        at now: Timestamp
    ) -> SQL {
        let isTold: SQL =
            onlyIfTold
            ? """
            AND EXISTS (SELECT FROM deliveries earlier WHERE earlier.family_id = ledger_stamp.family_id
                AND earlier.nag_id = \(nag) AND earlier.user_id = \(user) AND earlier.status <> 'failed')
            """ : ""
        return """
            INSERT INTO deliveries
                (family_id, id, nag_id, nag_event_id, user_id, channel, status, next_attempt, created_at)
            SELECT ledger_stamp.family_id, \(id), \(nag), \(event), \(user), c.channel, 'pending', \(now), \(now)
            FROM ledger_stamp CROSS JOIN LATERAL (\(channel(of: user))) c
            WHERE (\(DeviceStatements.exists(of: user)) OR c.channel = 'sms') \(isTold)
            """
    }

    /// The same of what happened to the connection that the act is about.
    static func insert(_ id: DeliveryID, of event: ConnectionEvent, to user: UserID, at now: Timestamp) -> SQL {
        """
        INSERT INTO deliveries (family_id, id, connection_event, user_id, channel, status, next_attempt, created_at)
        SELECT ledger_stamp.family_id, \(id), \(event.rawValue), \(user), c.channel, 'pending', \(now), \(now)
        FROM ledger_stamp CROSS JOIN LATERAL (\(channel(of: user))) c
        WHERE \(DeviceStatements.exists(of: user)) OR c.channel = 'sms'
        """
    }

    /// The same of the message that a draft sends.
    static func insert(_ id: DeliveryID, of draft: DraftID, to user: UserID, at now: Timestamp) -> SQL {
        """
        INSERT INTO deliveries (family_id, id, draft_id, user_id, channel, status, next_attempt, created_at)
        SELECT ledger_stamp.family_id, \(id), \(draft), \(user), c.channel, 'pending', \(now), \(now)
        FROM ledger_stamp CROSS JOIN LATERAL (\(channel(of: user))) c
        WHERE \(DeviceStatements.exists(of: user)) OR c.channel = 'sms'
        """
    }

    /// A subquery: the `channel` to somebody.
    private static func channel(of user: UserID) -> SQL {
        let family: SQL = "(SELECT m.family_id FROM memberships m WHERE m.user_id = \(user) AND m.status = 'active')"
        return """
            SELECT CASE WHEN \(PreferenceStatements.stored(of: "\(user)", in: family))->>'delivery_channel' = 'sms'
                AND \(ConsentStatements.inForce(.smsOptIn, user: "\(user)", family: family)) THEN 'sms' ELSE 'push' END AS channel
            """
    }
}

/// What people are notified of about a connection.
enum ConnectionEvent: String {
    case invited = "connection_invited"
    case accepted = "connection_accepted"
}
