import Contract
import Domain
import JSON
import NagzAI
import Postgres
import SQL

/// The facts that a page of the feed carries for devices that answer AI questions themselves. They are read in the
/// page's own statement, so that rows, cursor and facts are of the same moment.
enum DeviceFacts {
    /// The text columns of `rows(for:)`, in their order: the member's name and preferences, the family's time zone,
    /// and a JSON object with the other facts about the member.
    private enum TextColumn: Int, CaseIterable {
        case name, preferences, familyZone, details

        var column: Int { FeedColumns.texts.lowerBound + rawValue }

        var expression: SQL {
            switch self {
            case .name: "u.display_name"
            case .preferences: "p.prefs::text"
            case .familyZone: "f.time_zone"
            case .details:
                """
                jsonb_build_object(
                    'role', m.role, 'status', m.status, 'ai_mediation', g.sees_mediation,
                    'streak', coalesce(t.streak, 0), 'max_pushback', o.max_pushback,
                    'cooldown_minutes', o.cooldown_minutes, 'quiet_start', k.quiet_hours_start,
                    'quiet_end', k.quiet_hours_end, 'resolved', coalesce(r.counts, '[]'),
                    'push_backs', coalesce(b.counts, '[]'),
                    'is_reader', x.is_reader, 'constraints', x.constraints)::text
                """
            }
        }
    }

    private static let columns = FeedColumns.selectList(
        .facts, stamp: "NULL::timestamptz", ids: ["m.user_id"], texts: TextColumn.allCases.map(\.expression))

    /// Returns the part of the page's statement that selects a row for each member, from the statement's `gate`. It
    /// selects none if nothing has happened in the family since the reader's position.
    static func rows(for caller: Caller) -> SQL {
        """
         UNION ALL (
            SELECT \(columns)
            FROM gate g
            JOIN memberships m ON m.family_id = g.family_id AND (g.sees_all OR m.user_id = \(caller.userID))
            JOIN users u ON u.id = m.user_id
            JOIN families f ON f.id = m.family_id
            LEFT JOIN preferences p ON p.family_id = m.family_id AND p.user_id = m.user_id
            LEFT JOIN member_totals t ON t.family_id = m.family_id AND t.user_id = m.user_id
            LEFT JOIN child_settings k ON k.family_id = m.family_id AND k.user_id = m.user_id
            LEFT JOIN policies o ON o.family_id = m.family_id AND o.is_default AND o.status = 'active'
            LEFT JOIN LATERAL (
                SELECT jsonb_agg(jsonb_build_object('category', y.category, 'total', y.total, 'completed', y.completed)
                                 ORDER BY y.category) AS counts
                FROM resolved_nags y WHERE y.family_id = m.family_id AND y.user_id = m.user_id AND y.total > 0
            ) r ON true
            LEFT JOIN LATERAL (
                SELECT jsonb_agg(jsonb_build_object('nag_id', a.nag_id, 'counted', a.counted, 'earlier', a.earlier)
                                 ORDER BY a.nag_id) AS counts
                FROM (\(AIStatements.pushBacks(onOpenNagsOf: "m"))) a
            ) b ON true
            CROSS JOIN LATERAL (
                SELECT m.user_id = \(caller.userID) AS is_reader,
                    CASE WHEN m.user_id = \(caller.userID) THEN \(ConstraintStatements.enabledAsJSON) END AS constraints
            ) x
            WHERE g.ts >= g.start
        )
        """
    }

    /// Returns the facts in a range of the page's rows; nil for an empty range.
    static func facts(_ rows: Rows, _ range: Range<Int>) throws(PostgresError) -> FamilyFacts? {
        var facts: FamilyFacts?
        for index in range {
            let row = rows[index]
            guard let text = row.text(TextColumn.details.column),
                let memberDetails = try? JSONValue(parsing: Array(text.utf8).span),
                let zone = row.text(TextColumn.familyZone.column)
            else { throw .unexpectedShape("the facts of a member") }
            let preferences = readPreferences(row, memberDetails, familyZone: zone)
            guard let member = readMember(row, memberDetails, preferences) else {
                throw .unexpectedShape("the facts of a member")
            }
            if facts == nil {
                facts = FamilyFacts(
                    timeZone: zone,
                    maxPushBack: memberDetails.integer("max_pushback") ?? FamilyPolicy.standard.maxPushBacksPerNag,
                    cooldownMinutes: memberDetails.integer("cooldown_minutes")
                        ?? FamilyPolicy.standard.pushBackCooldownMinutes,
                    allowsMediation: memberDetails["ai_mediation"]?.boolValue ?? false, members: [])
            }
            facts?.members.append(member)
            guard memberDetails["is_reader"]?.boolValue == true else { continue }
            facts?.choices = AIChoices(preferences)
            if let constraints = memberDetails["constraints"], constraints != .null {
                guard let constraints = try? [ConstraintFacts](json: constraints) else {
                    throw .unexpectedShape("the constraints of a member")
                }
                facts?.constraints = constraints
            }
        }
        return facts
    }

    private static func readPreferences(_ row: Row, _ memberDetails: JSONValue, familyZone: String) -> Preferences {
        let stored = row.text(TextColumn.preferences.column).flatMap { try? JSONValue(parsing: Array($0.utf8).span) }
        var quietHours: QuietHours?
        if let start = memberDetails["quiet_start"]?.stringValue.flatMap({ TimeOfDay($0) }),
            let end = memberDetails["quiet_end"]?.stringValue.flatMap({ TimeOfDay($0) })
        {
            quietHours = QuietHours(start: start, end: end)
        }
        return StoredPreferences(stored?.objectValue ?? JSONObject()).effective(
            familyZone: familyZone, childQuietHours: quietHours)
    }

    private static func readMember(_ row: Row, _ memberDetails: JSONValue, _ preferences: Preferences) -> MemberFacts? {
        guard let role = memberDetails["role"]?.stringValue.flatMap(FamilyRole.init),
            let status = memberDetails["status"]?.stringValue.flatMap(MembershipStatus.init),
            let resolvedJSON = memberDetails["resolved"], let resolved = try? [ResolvedNags](json: resolvedJSON),
            let pushBackJSON = memberDetails["push_backs"], let pushBacks = try? [NagPushBacks](json: pushBackJSON)
        else { return nil }
        let (high, low) = row.uuidOrZero(FeedColumns.ids.lowerBound)
        return MemberFacts(
            userID: UserID(high: high, low: low), displayName: row.text(TextColumn.name.column), role: role,
            status: status,
            timeZone: preferences.timeZone, quietHours: preferences.quietHours,
            pushBackMode: preferences.pushBackMode,
            tone: preferences.tone, allowsOnDeviceAI: preferences.aiOnDeviceEnabled,
            streak: memberDetails.integer("streak") ?? 0,
            resolvedCounts: resolved,
            openNagPushBacks: pushBacks)
    }
}

extension JSONValue {
    fileprivate func integer(_ name: String) -> Int? { self[name]?.integerValue.map { Int($0) } }
}
