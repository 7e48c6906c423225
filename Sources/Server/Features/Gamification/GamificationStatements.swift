import Contract
import Domain
import SQL

/// Every statement on points, totals and badges.
enum GamificationStatements {
    // MARK: Reading

    /// Reads a member's totals, badges, preference and consent, the family's multiplier, and its active incentive
    /// rules. No row for somebody who never was a member of the family.
    static func record(of user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT m.status = 'active' AS is_member, \(IncentiveStatements.activeRules(in: "m.family_id")) AS rules,
               \(hasConsent) AS has_consent, \(isEnabled) AS is_enabled, coalesce(t.points, 0) AS points,
               coalesce(t.streak, 0) AS streak, coalesce(t.events, 0) AS events,
               coalesce(t.completions, 0) AS completions, coalesce(o.points_multiplier, 1) AS points_multiplier,
               (SELECT array_agg(b.badge_type) FROM badges b
                   WHERE b.family_id = m.family_id AND b.user_id = m.user_id) AS badges
        FROM memberships m
        LEFT JOIN member_totals t ON t.family_id = m.family_id AND t.user_id = m.user_id
        LEFT JOIN policies o ON o.family_id = m.family_id AND o.is_default AND o.status = 'active'
        WHERE m.family_id = \(family) AND m.user_id = \(user)
        """
    }

    /// The maximum time between the opening and the due time of an instance of a series: a month, and an hour for a
    /// change to or from daylight-saving time.
    private static let maxTimeFromOpeningToDue = Timestamp.Span.hours(31 * 24 + 1)

    /// Counts the instances of series that are due from a moment on and that a member has completed on time.
    static func countInstancesOnTime(of user: UserID, in family: FamilyID, dueFrom start: Timestamp) -> SQL {
        """
        SELECT count(*) AS count FROM gamification_events g
        JOIN nags n ON n.family_id = g.family_id AND n.id = g.nag_id
        WHERE g.family_id = \(family) AND g.user_id = \(user) AND g.at >= \(start - maxTimeFromOpeningToDue)
            AND g.event_type = 'nag_completed' AND g.streak_delta = 1
            AND n.recurrence IS NOT NULL AND n.due_at >= \(start)
        """
    }

    /// Reads the members who take part, with their points in a period that has not ended, the most points first. Points
    /// for an instance of a series count at the instance's due time.
    static func leaderboard(of family: FamilyID, _ period: Range<Timestamp>) -> SQL {
        """
        SELECT m.user_id, coalesce(sum(g.delta_points) FILTER (
                   WHERE coalesce(n.due_at, g.at) >= \(period.lowerBound) AND coalesce(n.due_at, g.at) < \(period.upperBound)
               ), 0)::bigint AS points
        FROM memberships m
        LEFT JOIN gamification_events g ON g.family_id = m.family_id AND g.user_id = m.user_id
            AND g.at >= \(period.lowerBound - maxTimeFromOpeningToDue)
        LEFT JOIN nags n ON n.family_id = g.family_id AND n.id = g.nag_id AND n.recurrence IS NOT NULL
        WHERE m.family_id = \(family) AND m.status = 'active' AND \(hasConsent) AND \(isEnabled)
        GROUP BY m.user_id ORDER BY points DESC, m.user_id
        """
    }

    /// Reads a page of a member's gamification events, the newest first.
    static func events(of user: UserID, in family: FamilyID, _ page: PageRequest) -> SQL {
        page.select(
            "g.id, g.event_type, g.delta_points, g.streak_delta, g.at", from: "gamification_events", as: "g",
            where: "g.family_id = \(family) AND g.user_id = \(user)", orderBy: "g.at DESC, g.id DESC")
    }

    /// Reads those of a member's badges that clients are shown, in the order in which they were earned.
    static func clientBadges(of user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT id, badge_type, earned_at FROM badges
        WHERE family_id = \(family) AND user_id = \(user) AND badge_type = ANY (\(SQLList(BadgeType.clientBadges.map(\.rawValue)))::text[])
        ORDER BY earned_at, badge_type
        """
    }

    /// Counts a member's nags by the finished week in which they were due: all of them as `due`, and as `on_time`
    /// those that scored as completed on time. Withdrawn and cancelled nags do not count; a week without nags has no
    /// row.
    /// - Parameter boundaries: the starts of the weeks, ascending, and the end of the last week.
    static func weekCounts(of user: UserID, in family: FamilyID, between boundaries: [Timestamp]) -> SQL {
        let bounds = SQL.joined(boundaries.map { "\($0)" }, separator: ", ")
        return """
            SELECT count(*) AS due, count(g.id) AS on_time
            FROM nags n
            LEFT JOIN gamification_events g ON g.family_id = n.family_id AND g.nag_id = n.id
                AND g.event_type = 'nag_completed' AND g.streak_delta = 1
            WHERE n.family_id = \(family) AND n.recipient_id = \(user)
                AND n.status NOT IN ('withdrawn', 'cancelled_relationship_change')
                AND n.due_at >= \(boundaries.first ?? .epoch) AND n.due_at < \(boundaries.last ?? .epoch)
            GROUP BY width_bucket(n.due_at, ARRAY[\(bounds)])
            """
    }

    /// A condition: the member `m` has given the consent to gamification.
    private static let hasConsent = ConsentStatements.isInForce(
        .gamificationParticipation, user: "m.user_id", family: "m.family_id")

    /// A condition: the member `m` has switched gamification on.
    private static let isEnabled: SQL = """
        EXISTS (SELECT 1 FROM preferences p WHERE p.family_id = m.family_id AND p.user_id = m.user_id
            AND p.prefs -> 'gamification_enabled' = 'true'::jsonb)
        """

    // MARK: Statements of an act

    static func insertEvent(
        _ score: Score, _ outcome: Punctuality, _ event: EventID, nag: NagID, for user: UserID, at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO gamification_events
            (family_id, id, user_id, event_type, delta_points, streak_delta, nag_id, at, sync_seq, sync_ts)
        SELECT family_id, \(event), \(user), \(outcome == .missed ? "nag_missed" : "nag_completed"), \(score.points),
               \(score.streakDelta), \(nag), \(now), seq, ts
        FROM ledger_stamp
        """
    }

    /// Adds increments to a member's totals. The streak does not fall below 0.
    static func addToTotals(_ increments: TotalIncrements, for user: UserID) -> SQL {
        """
        INSERT INTO member_totals AS t (family_id, user_id, points, streak, events, completions)
        SELECT family_id, \(user), \(increments.points), \(max(0, increments.streakDelta)), \(increments.events), \(increments.completions)
        FROM ledger_stamp
        ON CONFLICT (family_id, user_id) DO UPDATE SET
            points = t.points + excluded.points, streak = greatest(0, t.streak + \(increments.streakDelta)),
            events = t.events + excluded.events, completions = t.completions + excluded.completions
        """
    }

    /// Inserts the gamification events of incentives that are given now, each under its incentive's ID.
    static func insertEvents(_ incentives: [Incentive], at now: Timestamp) -> SQL {
        """
        INSERT INTO gamification_events
            (family_id, id, user_id, event_type, delta_points, streak_delta, nag_id, at, sync_seq, sync_ts)
        SELECT family_id, i.id, i.user_id, i.event_type, i.points::integer, 0, i.nag_id, \(now), seq, ts
        FROM ledger_stamp, unnest(
            \(SQLList(incentives.map(\.id))), \(SQLList(incentives.map(\.user))), \(SQLList(incentives.map(\.eventType))),
            \(SQLList(incentives.map(\.terms.points))), \(SQLList(incentives.map(\.nag)))
        ) AS i (id, user_id, event_type, points, nag_id)
        """
    }

    static func insertBadges(_ badges: [BadgeType], to user: UserID, at now: Timestamp) -> SQL {
        """
        INSERT INTO badges (family_id, user_id, badge_type, id, earned_at)
        SELECT family_id, \(user), badge_type, gen_random_uuid(), \(now)
        FROM ledger_stamp, unnest(\(SQLList(badges.map(\.rawValue)))) AS badge_type
        """
    }
}

/// The points, streak and counts that an act adds to a member's totals.
struct TotalIncrements {
    var points = 0
    var streakDelta = 0
    var events = 0
    var completions = 0

    /// Adds the points of incentives that are given now, and counts an event for each.
    mutating func add(_ incentives: [Incentive]) {
        points += incentives.reduce(0) { $0 + $1.terms.points }
        events += incentives.count
    }
}
