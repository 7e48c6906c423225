import Contract
import Domain
import SQL

/// Every statement on deliveries: notifications that people get as push or text messages.
enum DeliveryStatements {
    /// Reads a page of a nag's deliveries, the newest first, without dropped ones.
    static func page(_ page: PageRequest, of nag: NagID, in family: FamilyID) -> SQL {
        page.select(
            "d.id, d.nag_event_id, d.channel, d.status, d.provider_ref", from: "deliveries", as: "d",
            where: "d.family_id = \(family) AND d.nag_id = \(nag) AND NOT d.dropped",
            orderBy: "d.created_at DESC, d.id DESC")
    }

    /// An expression: the type of the event of which the delivery `d` notifies. `e` is the nag event that `d` names, if
    /// any.
    static let eventType: SQL = """
        coalesce(d.connection_event, d.family_notice,
                 CASE WHEN d.draft_id IS NOT NULL THEN 'digest_sent'
                      WHEN d.digest_on IS NOT NULL THEN 'daily_digest' END,
                 e.event_type)
        """

    // MARK: For administrators

    private static let reviewColumns: SQL = """
        d.id, d.family_id, d.nag_id, d.user_id, d.channel, d.status, d.attempts::bigint AS attempts, d.failure,
        d.dropped, d.repeats::bigint AS repeats, d.created_at, d.next_attempt, \(eventType) AS cause
        """
    /// The join with the nag event `e` of the delivery `d`, which `eventType` needs.
    static let eventJoin: SQL = """
        LEFT JOIN nag_events e ON e.family_id = d.family_id AND e.nag_id = d.nag_id AND e.id = d.nag_event_id
        """

    /// Reads a page of all deliveries, the newest first.
    static func reviews(_ query: DeliveryReviewQuery) -> SQL {
        let status: SQL = query.status.map { "d.status = \($0.rawValue)" } ?? "true"
        let dropped: SQL = query.isDropped.map { $0 ? "d.dropped" : "NOT d.dropped" } ?? "true"
        return query.page.select(
            reviewColumns, from: "deliveries", as: "d", where: "\(status) AND \(dropped)", joining: eventJoin,
            orderBy: "d.created_at DESC, d.id DESC")
    }

    /// Reads a delivery and its recipient's pseudonym.
    static func review(_ delivery: DeliveryID) -> SQL {
        """
        SELECT \(reviewColumns), u.pseudonym FROM deliveries d LEFT JOIN users u ON u.id = d.user_id
        \(eventJoin)
        WHERE d.id = \(delivery)
        """
    }

    /// Part of an act: makes a failed delivery pending again.
    static func resend(_ delivery: DeliveryID, in family: FamilyID, at now: Timestamp) -> SQL {
        """
        UPDATE deliveries SET status = 'pending', next_attempt = \(now), attempts = 0, failure = NULL, dropped = false
        FROM ledger_stamp
        WHERE deliveries.family_id = \(family) AND deliveries.id = \(delivery) AND deliveries.status = 'failed'
        """
    }

    // MARK: Parts of acts

    /// Part of an act: inserts a notification of an event of the same act. It stays pending until a worker sends it.
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

    /// Inserts a notification for each channel of a recipient; none if no channel reaches them. The statement reads the
    /// recipient's preferences itself.
    /// - Parameter onlyIfNotified: inserts nothing if the recipient has no earlier notification of the nag, or all of
    ///   them failed.
    static func insert(
        _ ids: DeliveryIDs, of event: EventID, on nag: NagID, to user: UserID, onlyIfNotified: Bool = false,
        at now: Timestamp
    ) -> SQL {
        let wasNotified: SQL =
            onlyIfNotified
            ? """
            AND EXISTS (SELECT FROM deliveries earlier WHERE earlier.family_id = source.family_id
                AND earlier.nag_id = \(nag) AND earlier.user_id = \(user) AND earlier.status <> 'failed')
            """ : ""
        return insert(ids, "nag_id, nag_event_id", "\(nag), \(event)", to: user, wasNotified, at: now)
    }

    /// Inserts a notification of an event of the connection that the act is about, for each channel of its recipient.
    static func insert(_ ids: DeliveryIDs, of event: ConnectionEvent, to user: UserID, at now: Timestamp) -> SQL {
        insert(ids, "connection_event", "\(event.rawValue)", to: user, at: now)
    }

    /// Inserts a notification with the message that a draft sends, for each channel of its recipient.
    static func insert(_ ids: DeliveryIDs, of draft: DraftID, to user: UserID, at now: Timestamp) -> SQL {
        insert(ids, "draft_id", "\(draft)", to: user, at: now)
    }

    /// Inserts a notification of a notice for one person, for each channel of theirs.
    static func insert(_ ids: DeliveryIDs, of notice: Notice, to user: UserID, at now: Timestamp) -> SQL {
        insert(ids, "family_notice", "\(notice.rawValue)", to: user, at: now)
    }

    /// Inserts notifications of a notice for the guardians of the act's family besides some people.
    static func insert(_ notice: Notice, toGuardiansBesides users: [UserID], at now: Timestamp) -> SQL {
        let deliveries = channels(of: "g.user_id", push: "gen_random_uuid()", sms: "gen_random_uuid()")
        return """
            INSERT INTO deliveries (family_id, id, family_notice, user_id, channel, status, next_attempt, created_at)
            SELECT g.family_id, c.id, \(notice.rawValue), g.user_id, c.channel, 'pending', \(now), \(now)
            FROM (\(MembershipStatements.guardiansOfActFamily(besides: users))) g CROSS JOIN LATERAL (\(deliveries)) c
            WHERE \(DeviceStatements.exists(of: "g.user_id")) OR c.channel = 'sms'
            """
    }

    /// Inserts the daily digest of a date. It stays pending until a worker sends it.
    /// - Parameter scheduleMove: a statement that moves the person's schedule, and returns a row with the `family_id`
    ///   if it did.
    static func insertDigest(
        _ ids: DeliveryIDs, on date: CivilDate, to user: UserID, with scheduleMove: SQL, at now: Timestamp
    ) -> SQL {
        """
        WITH turn AS (\(scheduleMove))
        \(insert(ids, "digest_on", "\(date.description)::date", to: user, from: "turn", at: now))
        """
    }

    /// Inserts a notification for each channel of its recipient.
    /// - Parameters:
    ///   - columns: the columns that say what caused the notification, with their `values`.
    ///   - condition: an additional condition, which begins with AND; empty for none.
    ///   - source: a table with one row, whose `family_id` is the ledger of the delivery.
    private static func insert(
        _ ids: DeliveryIDs, _ columns: SQL, _ values: SQL, to user: UserID, _ condition: SQL = "",
        from source: SQL = "ledger_stamp", at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO deliveries (family_id, id, \(columns), user_id, channel, status, next_attempt, created_at)
        SELECT source.family_id, c.id, \(values), \(user), c.channel, 'pending', \(now), \(now)
        FROM \(source) source
        CROSS JOIN LATERAL (\(channels(of: "\(user)", push: "\(ids.push)", sms: "\(ids.sms)"))) c
        WHERE (\(DeviceStatements.exists(of: "\(user)")) OR c.channel = 'sms') \(condition)
        """
    }

    /// A subquery: the channels of a person's notifications, chosen as `Preferences.channels` chooses them. Each row
    /// has a `channel` and the `id` of its delivery.
    /// - Parameters:
    ///   - push: an expression of the ID of the push message's delivery.
    ///   - sms: an expression of the ID of the text message's delivery.
    private static func channels(of user: SQL, push: SQL, sms: SQL) -> SQL {
        let family: SQL = "(SELECT m.family_id FROM memberships m WHERE m.user_id = \(user) AND m.status = 'active')"
        return """
            SELECT o.channel, o.id FROM (
                SELECT \(PreferenceStatements.preferences(of: user, in: family))->>'delivery_channel' AS preferred,
                       \(ConsentStatements.isInForce(.smsOptIn, user: user, family: family)) AS may_text
            ) w CROSS JOIN LATERAL (
                VALUES ('push', \(push), (w.preferred = 'sms' AND w.may_text) IS NOT TRUE),
                       ('sms', \(sms), w.preferred IN ('sms', 'both') AND w.may_text)
            ) o (channel, id, is_wanted)
            WHERE o.is_wanted
            """
    }
}

/// The ids of a notification's deliveries, one for each channel.
struct DeliveryIDs {
    let push: DeliveryID
    let sms: DeliveryID

    init(_ random: any Randomness, at now: Timestamp) {
        (push, sms) = (random.identifier(at: now), random.identifier(at: now))
    }
}

/// A notice about a person's family or account, as opposed to a notification about a nag, a connection or a draft.
enum Notice: String, CaseIterable {
    /// A member who may know the family's codes has left or was removed, so the family has new ones.
    case codesRenewed = "codes_renewed"
    /// Another guardian has renewed the child code.
    case childCodeRenewed = "child_code_renewed"
    /// Another account has registered the person's device.
    case deviceMoved = "device_moved"
    /// The owner of a policy whose co-owner left has proposed another one.
    case coOwnerProposed = "co_owner_proposed"

    /// Whether the notice concerns the person alone, and is sent even after they have left the family that it came
    /// from.
    var isPersonal: Bool {
        switch self {
        case .codesRenewed, .childCodeRenewed: false
        case .deviceMoved, .coOwnerProposed: true
        }
    }

    /// A condition: the delivery `d` is of a personal notice.
    static let isPersonal: SQL =
        "coalesce(d.family_notice = ANY(\(SQLList(allCases.filter(\.isPersonal).map(\.rawValue)))), false)"

    var title: String {
        switch self {
        case .codesRenewed: "New family codes"
        case .childCodeRenewed: "New child code"
        case .deviceMoved: "A device of yours moved"
        case .coOwnerProposed: "New co-owner proposed"
        }
    }

    /// The text. It contains no codes, because a notification passes screens and gateways that must not show them.
    var text: String {
        switch self {
        case .codesRenewed:
            """
            A member has left or was removed, so the invite code and the child code are new. Children need the new child \
            code for their next sign-in: open the family to see it.
            """
        case .childCodeRenewed:
            """
            The child code is new. Children need it for their next sign-in: open the family to see it.
            """
        case .deviceMoved:
            """
            Another account has registered a device that showed your notifications, and gets its own there now. If you \
            did not expect that, end your other sessions and change your password.
            """
        case .coOwnerProposed:
            """
            An owner of a family's policy left or was removed, and the other one has proposed a new co-owner. Their \
            approval counts 72 hours after the proposal; from then on the two can widen the family's limits. Guardians \
            see the proposal in the policy.
            """
        }
    }
}

/// An event of a connection that people are notified of.
enum ConnectionEvent: String {
    /// Somebody has invited the person to connect.
    case invited = "connection_invited"
    /// Somebody has accepted the person's invitation.
    case accepted = "connection_accepted"
}
