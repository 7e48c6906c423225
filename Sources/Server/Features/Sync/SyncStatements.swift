import Domain
import SQL

/// The largest number of rows of one entity in a page. The ledger stamps at most 400 rows of an entity in one second,
/// so a page always reaches beyond the second in which it starts.
struct FeedPageSize: Hashable {
    let rowsPerPart: Int

    /// The size for clients that page by `cursor`, which ask for the next page at once.
    static let exact = FeedPageSize(rowsPerPart: 500)
    /// The size for clients that page by `since`, which ask only every five minutes or less often. It is enough for
    /// ninety days of a busy family.
    static let legacy = FeedPageSize(rowsPerPart: 2_000)
}

/// Every statement of the feed.
enum SyncStatements {
    /// The time for which events, points and mediation events stay in the feed. Missed nags stay as long as their
    /// events, because clients may look up these nags when they count misses.
    static let eventRetention = Timestamp.Span.days(90)
    /// The time for which other closed nags stay in the feed.
    static let closedNagRetention = Timestamp.Span.days(30)

    /// Reads the authorisation, the family clock and one page of every entity, in one statement and so in one snapshot.
    ///
    /// The first row is part 0, the gate. Without any row, the session has ended. The other rows are ordered by part (1
    /// nags, 2 nag events, 3 mediation events, 4 gamification events), each in feed order from the gate's position.
    /// Part 5 has the caller's connections, at most `FeedPageSize.exact.rowsPerPart`, except those that ended before
    /// the retention period. `FeedColumns` describes the columns.
    ///
    /// An answer of the mediator is shown to the person who asked, while they may read its nag. A sent digest is shown
    /// to its sender and its recipients.
    ///
    /// A nag is stamped when it closes or later, so of the nags stamped before the retention period only open ones
    /// remain.
    ///
    /// Members who have the consent to gamification see the points of members who have it. `points_of` lists these
    /// members; it is null if a guardian's consent covers all members.
    ///
    /// - Parameters:
    ///   - start: the position that the client claims; the beginning if none.
    ///   - withEntities: whether the statement reads parts 1 to 4; if not, a standby reads them.
    ///   - withFacts: whether the rows of `DeviceFacts` follow as part 6.
    static func page(
        _ family: FamilyID, for caller: Caller, from start: FeedStart, _ size: FeedPageSize,
        withEntities: Bool = true, withFacts: Bool = false
    ) -> SQL {
        """
        \(gate(family, for: caller, if: caller.sessionCheck, from: start))
        \(withEntities ? entities(for: caller, size) : "")
        \(connections(for: caller))\(withFacts ? DeviceFacts.rows(for: caller) : "")
        """
    }

    /// Reads the gate and the entities from a standby; no row unless its family clock equals that of the primary's
    /// gate.
    ///
    /// Each change of these rows, and of what a member may see of them, advances the family clock. So if the clocks are
    /// equal, the rows are those of the primary's snapshot.
    static func entitiesFromStandby(
        _ family: FamilyID, for caller: Caller, at gate: FeedGate, from start: FeedStart, _ size: FeedPageSize
    ) -> SQL {
        """
        \(self.gate(family, for: caller, if: "c.ts = \(gate.clockTime) AND c.epoch = \(gate.epoch)", from: start))
        \(entities(for: caller, size))
        """
    }

    /// Returns the common table expressions up to `gate`, and the gate's row.
    /// - Parameter check: a condition on the reader, with their account `u` and the family clock `c`.
    private static func gate(
        _ family: FamilyID, for caller: Caller, if check: SQL, from start: FeedStart
    ) -> SQL {
        let condition = start.validityCondition(at: caller.now)
        return """
            WITH reader AS MATERIALIZED (
                SELECT u.id AS user_id, u.status, CASE WHEN m.role <> 'child' THEN u.email END AS address, m.family_id, m.role = 'guardian' AS sees_all, c.ts, c.epoch,
                       \(ConsentStatements.isInForce(.aiMediation, user: "u.id", family: "m.family_id"))
                           AS sees_mediation,
                       \(membersWithPointsConsent) AS points_of, g.places AS granted
                FROM users u
                LEFT JOIN memberships m ON m.user_id = u.id AND m.family_id = \(family) AND m.status = 'active'
                LEFT JOIN family_clock c ON c.family_id = m.family_id
                LEFT JOIN sync_grants g ON g.session_id = \(caller.sessionID) AND g.family_id = m.family_id
                WHERE u.id = \(caller.userID) AND \(check)
            ), visible_to_caller AS MATERIALIZED (
                SELECT *, sees_all::integer + 2 * sees_mediation::integer + 4 * sees_points::integer
                       + CASE WHEN points_of IS NULL OR NOT sees_points THEN 0::bigint
                              ELSE 8 * (1 + \(newestPointsConsentSeq)) END AS visibility
                FROM (SELECT *, points_of IS NULL OR user_id = ANY(points_of) AS sees_points FROM reader) r
            ), placed AS MATERIALIZED (
                SELECT *, CASE WHEN \(condition) THEN \(start.positionSQL) ELSE '-infinity'::timestamptz END AS start,
                       \(condition) AS is_known
                FROM visible_to_caller
            ), gate AS MATERIALIZED (
                SELECT *, greatest(start, \(caller.now - eventRetention)) AS event_start FROM placed
            )
            SELECT \(FeedGate.columns)
            FROM gate
            """
    }

    private static func entities(for caller: Caller, _ size: FeedPageSize) -> SQL {
        """
        UNION ALL
        SELECT x.* FROM gate, LATERAL (
            SELECT * FROM (
                (SELECT \(FeedEntities.nagColumns) FROM nags n
                 WHERE n.family_id = gate.family_id AND sync_ts >= gate.start AND n.status = 'open'
                     AND sync_ts < \(caller.now - eventRetention) AND \(isVisibleToReader)
                 ORDER BY n.family_id, sync_ts, id LIMIT \(literal: size.rowsPerPart))
                UNION ALL
                (SELECT \(FeedEntities.nagColumns) FROM nags n
                 WHERE n.family_id = gate.family_id AND sync_ts >= gate.event_start
                     AND (n.status = 'open' OR closed_at >= \(caller.now - closedNagRetention)
                          OR (n.status = 'missed' AND closed_at >= \(caller.now - eventRetention)))
                     AND \(isVisibleToReader)
                 ORDER BY n.family_id, sync_ts, id LIMIT \(literal: size.rowsPerPart))
            ) n ORDER BY sync_ts, id LIMIT \(literal: size.rowsPerPart)
        ) x
        UNION ALL
        SELECT x.* FROM gate, LATERAL (
            SELECT \(FeedEntities.nagEventColumns)
            FROM nag_events e
            WHERE gate.sees_all AND e.family_id = gate.family_id AND sync_ts >= gate.event_start
            ORDER BY e.family_id, sync_ts, id LIMIT \(literal: size.rowsPerPart)
        ) x
        UNION ALL
        SELECT x.* FROM gate, LATERAL (
            SELECT \(FeedEntities.nagEventColumns)
            FROM (
                (\(ownEvents("e.recipient_id = gate.user_id", by: "e.recipient_id", size)))
                UNION ALL
                (\(ownEvents("e.creator_id = gate.user_id AND e.creator_id <> e.recipient_id", by: "e.creator_id", size)))
            ) e ORDER BY sync_ts, id LIMIT \(literal: size.rowsPerPart)
        ) x
        UNION ALL
        SELECT x.* FROM gate, LATERAL (
            SELECT \(FeedEntities.mediationColumns)
            FROM ai_mediation_events a
            WHERE a.family_id = gate.family_id AND gate.sees_mediation AND sync_ts >= gate.event_start
                AND \(AIStatements.isReader(reader, "a"))
                AND (gate.sees_all OR a.nag_id = '00000000-0000-0000-0000-000000000000' OR \(isOwnNag(of: "a")))
            ORDER BY a.family_id, sync_ts, id LIMIT \(literal: size.rowsPerPart)
        ) x
        UNION ALL
        SELECT x.* FROM gate, LATERAL (
            SELECT \(FeedEntities.pointsColumns)
            FROM gamification_events p
            WHERE p.family_id = gate.family_id AND gate.sees_points AND sync_ts >= gate.event_start
                AND (gate.points_of IS NULL OR p.user_id = ANY(gate.points_of))
            ORDER BY p.family_id, sync_ts, id LIMIT \(literal: size.rowsPerPart)
        ) x
        """
    }

    private static func connections(for caller: Caller) -> SQL {
        """
        UNION ALL
        SELECT x.* FROM gate g, LATERAL (
            SELECT \(FeedEntities.connectionColumns)
            FROM (\(ConnectionStatements.connections(of: "g.user_id", address: "g.address"))) c
            WHERE g.family_id IS NOT NULL
                AND (ended_at IS NULL OR ended_at >= \(caller.now - eventRetention))
            ORDER BY ended_at IS NOT NULL, created_at DESC LIMIT \(literal: FeedPageSize.exact.rowsPerPart)
        ) x
        """
    }

    private static let membersWithPointsConsent = ConsentStatements.coveredPeople(
        of: .gamificationParticipation, in: "m.family_id", guardian: "CASE WHEN m.role = 'guardian' THEN m.user_id END")
    private static let newestPointsConsentSeq = ConsentStatements.newestGrantedSeq(
        of: .gamificationParticipation, in: "r.family_id")

    /// An expression: the ID of the gate's reader.
    private static let reader: SQL = "(gate.user_id)"

    /// A condition on a nag `n`: the reader may see it. Members who are not guardians see the nags that they sent or
    /// received.
    private static let isVisibleToReader: SQL =
        "(gate.sees_all OR n.creator_id = gate.user_id OR n.recipient_id = gate.user_id)"

    /// Reads a page of the events of nags that the reader received or sent, by an index, so that no other events are
    /// read.
    private static func ownEvents(_ condition: SQL, by column: SQL, _ size: FeedPageSize) -> SQL {
        """
        SELECT id, sync_ts, nag_id, actor_id, at, event_type, payload, recipient_id, source FROM nag_events e
        WHERE NOT gate.sees_all AND e.family_id = gate.family_id AND \(condition) AND sync_ts >= gate.event_start
        ORDER BY e.family_id, \(column), sync_ts, id LIMIT \(literal: size.rowsPerPart)
        """
    }

    /// A condition: a row is about a nag that the reader sent or received. It is not an EXISTS, for which the planner
    /// might read all nags of the person.
    private static func isOwnNag(of row: SQL) -> SQL {
        """
        (SELECT o.creator_id = gate.user_id OR o.recipient_id = gate.user_id FROM nags o
         WHERE o.family_id = \(row).family_id AND o.id = \(row).nag_id)
        """
    }

    /// Stores a position that a session was given, so that the session may continue from it. The sixteen newest
    /// positions of a session in a family are kept.
    ///
    /// The commit does not wait for the disk: if the position is lost, the client gets a full page, but misses no
    /// change.
    static func insertGrant(_ position: GrantedPosition, to session: SessionID, in family: FamilyID) -> SQL {
        """
        INSERT INTO sync_grants AS g (session_id, family_id, places)
        SELECT \(session), \(family), ARRAY[\(position.storedNumber)]
        FROM set_config('synchronous_commit', 'off', true)
        ON CONFLICT (session_id, family_id) DO UPDATE SET places = (ARRAY[\(position.storedNumber)] || g.places)[1:16]
        """
    }
}

/// The data that a reader may see besides their own nags, as of one moment: a number that the statements compute.
///
/// It has one bit each for everybody's nags and events (1), mediation (2) and points (4). The number from bit 3 on
/// shows whose points are visible: 0 for everybody's or nobody's; otherwise one more than the ledger's sequence number
/// of the newest consent of members who agreed for themselves. While it does not grow, no hidden points become visible.
struct FeedVisibility: Hashable {
    let rawValue: Int64

    /// The bits for nags and events, mediation, and points.
    var kinds: Int64 { rawValue & 7 }
    /// The number from bit 3 on: one more than the sequence number of the newest consent that makes points visible; 0
    /// for everybody's points or nobody's.
    var consentNumber: Int64 { rawValue >> 3 }
}

/// A second that a session was given as `server_time`, and what the session could see then.
///
/// A position is valid only for the same visibility: a reader who saw less was not sent rows that lie before it.
struct GrantedPosition {
    /// The time in seconds since 1970.
    let second: Int64
    let visibility: FeedVisibility

    /// The position as the database stores it. Seconds of four-digit years, times 8, fit below bit 41. Only the lowest
    /// 22 bits of `consentNumber` are included, so two values of it that differ by a multiple of 4,194,304 are not
    /// distinguished.
    var storedNumber: Int64 { second * 8 + visibility.kinds + (visibility.consentNumber & 0x3F_FFFF) << 41 }

    /// An expression: `storedNumber` for the column `visibility` of `visible_to_caller`.
    fileprivate static func storedNumber(second: Int64) -> SQL {
        "\(second) * 8 + (visibility & 7) + (((visibility >> 3) & 4194303) << 41)"
    }
}

/// The position that a client claims, and the condition under which the claim is valid.
enum FeedStart {
    /// No position: everything, from the beginning.
    case beginning
    /// A `since` of the legacy contract, in whole seconds since 1970: valid if that second was given to this session
    /// for this family while the session could see what it sees now.
    case sinceSecond(Int64)
    /// A cursor's position: everything after it. Valid if the clock has reached it in that epoch, if nothing has become
    /// visible since, and if no nag can have left the feed since.
    case after(Cursor)
    /// A position that the primary has found valid: everything from it on.
    case valid(Timestamp)

    var isBeginning: Bool { if case .beginning = self { true } else { false } }

    /// Returns the condition that the claim is valid, on the columns of `visible_to_caller`.
    fileprivate func validityCondition(at now: Timestamp) -> SQL {
        switch self {
        case .beginning, .valid: "true"
        case .sinceSecond(let second): "granted @> ARRAY[\(GrantedPosition.storedNumber(second: second))]"
        case .after(let cursor):
            """
            (epoch = \(cursor.epoch) AND ts >= \(cursor.position) AND (visibility & 7) & \(cursor.visibility.kinds) = visibility & 7
             AND (visibility & 4 = 0 OR \(cursor.visibility.consentNumber) = 0 OR visibility >> 3 BETWEEN 1 AND \(cursor.visibility.consentNumber))
             AND (ts = \(cursor.position) OR \(cursor.isWithinNagRetention(at: now))))
            """
        }
    }

    /// The first stamp of the page; nil for everything.
    var stamp: Timestamp? {
        switch self {
        case .beginning: nil
        case .sinceSecond(let second): Timestamp(seconds: second)
        case .after(let cursor): Timestamp(microseconds: cursor.position.microseconds + 1)
        case .valid(let stamp): stamp
        }
    }

    fileprivate var positionSQL: SQL { stamp.map { "\($0)" } ?? "'-infinity'::timestamptz" }

    /// Whether a page may have many rows: it starts at the beginning or more than an hour ago.
    func mayHaveManyRows(at now: Timestamp) -> Bool { stamp.map { $0 < now - .hours(1) } ?? true }
}
