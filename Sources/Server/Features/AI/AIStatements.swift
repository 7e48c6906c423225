import Contract
import Domain
import NagzAI
import Postgres
import SQL

/// Every statement of the mediator: reads of facts and permissions, and records of answers and digests.
enum AIStatements {
    /// Reads the caller's right to ask and the facts about a nag, as of one moment. It reads no row if the session has
    /// ended, and a row without `recipient_id` if the ledger has no such nag for the caller. Most columns are in the
    /// order in which `NagConsultation` reads them, which is the fastest.
    static func nagFacts(
        _ nag: NagID, in ledger: NagLedger, for caller: Caller, _ depth: FactDepth
    ) -> SQL {
        """
        SELECT u.status AS account_status, n.recipient_id, n.family_id, n.creator_id, n.connection_id,
               \(ledger.guardsRecipient), m.role, \(consentColumn(for: ledger)), \(enabledColumn), \(settingColumns),
               \(authoritySeq(for: ledger)) AS authority_seq, u.pseudonym, c.seq, r.pseudonym AS recipient_pseudonym,
               n.category, n.status, n.due_at, n.created_at\(factColumns(depth, in: ledger, caller.now))
        FROM users u
        LEFT JOIN memberships m ON m.user_id = u.id AND m.status = 'active'
        \(ledger.join(nag))
        \(ledger.recipientMembershipJoin)
        LEFT JOIN family_clock c ON c.family_id = n.family_id
        LEFT JOIN users r ON r.id = n.recipient_id
        LEFT JOIN preferences p ON p.family_id = m.family_id AND p.user_id = u.id\(joins(depth, in: ledger, caller.now))
        WHERE u.id = \(caller.userID) AND \(caller.sessionCheck)
        """
    }

    /// Reads whether a member may use the mediator, and the member's settings for it.
    static func permission(_ user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT \(consentColumn), \(enabledColumn), \(settingColumns), c.authority_seq
        FROM memberships m LEFT JOIN preferences p ON p.family_id = m.family_id AND p.user_id = m.user_id
        LEFT JOIN family_clock c ON c.family_id = m.family_id
        WHERE m.family_id = \(family) AND m.user_id = \(user)
        """
    }

    /// The column `has_consent` for the member `m`.
    private static let consentColumn: SQL = """
        \(ConsentStatements.isInForce(.aiMediation, user: "m.user_id", family: "m.family_id")) AS has_consent
        """

    /// Returns the column `has_consent`. For a nag of a connection the consent is its recipient's: the caller may be of
    /// another family, or of none.
    private static func consentColumn(for ledger: NagLedger) -> SQL {
        switch ledger {
        case .family: consentColumn
        case .connection:
            """
            \(ConsentStatements.isInForce(.aiMediation, user: "n.recipient_id", family: "hm.family_id")) AS has_consent
            """
        }
    }

    /// Returns an expression of the sequence number at which rights changed last in the caller's own family.
    private static func authoritySeq(for ledger: NagLedger) -> SQL {
        switch ledger {
        case .family: "c.authority_seq"
        case .connection: "(SELECT hc.authority_seq FROM family_clock hc WHERE hc.family_id = m.family_id)"
        }
    }

    /// The column `is_enabled`: whether the person's preferences allow the AI on the server.
    private static let enabledColumn: SQL = """
        (p.prefs->'ai_server_enabled' IS DISTINCT FROM 'false'::jsonb AND p.prefs->>'ai_mode' IS DISTINCT FROM 'off')
            AS is_enabled
        """

    /// The columns of the caller's preferences for the AI, and of the family whose constraints the caller obeys; null
    /// without a family. Each statement selects `authority_seq` itself.
    private static let settingColumns: SQL = """
        p.prefs->>'ai_mode' AS ai_mode, p.prefs->>'ai_privacy_level' AS ai_privacy_level,
        p.prefs->>'ai_model_local' AS ai_model_local, p.prefs->>'ai_model_cloud' AS ai_model_cloud,
        CASE WHEN jsonb_typeof(p.prefs->'ai_token_threshold') = 'number'
             THEN least((p.prefs->>'ai_token_threshold')::numeric, 32768)::bigint END AS ai_token_threshold,
        p.prefs->'ai_log_errors_only' IS NOT DISTINCT FROM 'true'::jsonb AS logs_errors_only, m.family_id AS home_id
        """

    /// Returns the columns of the facts, beginning with a comma; nothing for the depth `none`.
    private static func factColumns(_ depth: FactDepth, in ledger: NagLedger, _ now: Timestamp) -> SQL {
        let tone: SQL = """
            , (SELECT count(*) FROM nag_events e WHERE e.family_id = n.family_id AND e.recipient_id = n.recipient_id
                    AND e.event_type = 'nag_missed' AND e.at > \(now - .days(7)) AND e.at <= \(now)) AS misses,
               coalesce(t.streak, 0) AS streak
            """
        switch depth {
        case .none: return ""
        case .tone: return tone
        case .full:
            return """
                \(tone),
                (SELECT count(*) FROM excuses x WHERE x.family_id = n.family_id AND x.author_id = n.recipient_id
                    AND x.category = 'time_conflict' AND x.at > \(now - .days(7)) AND x.at <= \(now)) AS time_conflicts,
                h.category_total, h.category_completed, l.recent_total, l.recent_completed, h.overall_total,
                h.overall_completed,
                b.push_backs, b.earlier_push_back, o.daily_cap, o.max_snooze_minutes, o.points_multiplier,
                o.max_pushback, o.cooldown_minutes,
                \(relationship(in: ledger)) AS relationship,
                \(BlockStatements.isBlocked(between: "u.id", and: "n.recipient_id")) AS is_blocked,
                rp.prefs AS recipient_prefs, f.time_zone, \(PreferenceStatements.childQuietHoursColumns)
                """
        }
    }

    /// Returns an expression of the status of the relationship between the caller and the nag's recipient.
    private static func relationship(in ledger: NagLedger) -> SQL {
        switch ledger {
        case .family: RelationshipStatements.status(between: "u.id", and: "n.recipient_id", in: "n.family_id")
        case .connection:
            """
            CASE WHEN \(RelationshipStatements.isSuspended(between: "u.id", and: "n.recipient_id")) THEN 'suspended'
                 WHEN \(ConnectionStatements.isActive("n.connection_id")) THEN 'active'
                 ELSE 'revoked' END
            """
        }
    }

    /// Returns the joins that `factColumns` needs at that depth.
    private static func joins(_ depth: FactDepth, in ledger: NagLedger, _ now: Timestamp) -> SQL {
        switch depth {
        case .none: ""
        case .tone: "\nLEFT JOIN member_totals t ON t.family_id = n.family_id AND t.user_id = n.recipient_id"
        case .full:
            """

            LEFT JOIN member_totals t ON t.family_id = n.family_id AND t.user_id = n.recipient_id
            LEFT JOIN families f ON f.id = \(ledger.settingsFamily)
            LEFT JOIN preferences rp ON rp.family_id = \(ledger.settingsFamily) AND rp.user_id = n.recipient_id
            LEFT JOIN child_settings k ON k.family_id = \(ledger.settingsFamily) AND k.user_id = n.recipient_id
            LEFT JOIN policies o ON o.family_id = \(ledger.settingsFamily) AND o.is_default AND o.status = 'active'
            LEFT JOIN LATERAL (
                -- The nag itself is not among the others.
                SELECT coalesce(sum(y.total), 0) - \(isResolved) AS overall_total,
                       coalesce(sum(y.completed), 0) - \(isCompleted) AS overall_completed,
                       coalesce(sum(y.total) FILTER (WHERE y.category = n.category), 0) - \(isResolved)
                           AS category_total,
                       coalesce(sum(y.completed) FILTER (WHERE y.category = n.category), 0) - \(isCompleted)
                           AS category_completed
                FROM resolved_nags y WHERE y.family_id = n.family_id AND y.user_id = n.recipient_id
            ) h ON true
            LEFT JOIN LATERAL (
                SELECT count(*) AS recent_total, count(*) FILTER (WHERE y.status = 'completed') AS recent_completed
                FROM nags y WHERE y.family_id = n.family_id AND y.recipient_id = n.recipient_id AND y.id <> n.id
                    AND y.status IN ('completed', 'missed') AND y.category = n.category
                    AND y.closed_at > \(FactWindow.recent.start(now)) AND y.closed_at <= \(now)
            ) l ON true
            LEFT JOIN LATERAL (
                -- Compared by the family's time, which never decreases: a clock set back must not change the count.
                SELECT array_agg(a.at ORDER BY a.at) FILTER (WHERE a.sync_ts >= n.cycle_started_at) AS push_backs,
                       max(a.at) FILTER (WHERE a.sync_ts < n.cycle_started_at) AS earlier_push_back
                FROM ai_mediation_events a
                WHERE a.family_id = n.family_id AND a.nag_id = n.id AND a.prompt_type = 'push_back'
            ) b ON true
            """
        }
    }

    /// An expression that is 1 if the nag `n` is completed or missed, and 0 otherwise.
    private static let isResolved: SQL = "(n.status IN ('completed', 'missed'))::integer"
    /// An expression that is 1 if the nag `n` is completed, and 0 otherwise.
    private static let isCompleted: SQL = "(n.status = 'completed')::integer"

    /// Selects the counted push-backs on each open nag of a member: the times since the nag's due cycle began, in
    /// order, and the time of the last push-back before that cycle.
    /// - Parameter member: a row with `family_id` and `user_id`.
    static func pushBacks(onOpenNagsOf member: SQL) -> SQL {
        """
        SELECT a.nag_id,
               coalesce(
                   jsonb_agg(\(rfc3339("a.at")) ORDER BY a.at) FILTER (WHERE a.sync_ts >= n.cycle_started_at), '[]')
                   AS counted,
               \(rfc3339("max(a.at) FILTER (WHERE a.sync_ts < n.cycle_started_at)")) AS earlier
        FROM nags n JOIN ai_mediation_events a
            ON a.family_id = n.family_id AND a.nag_id = n.id AND a.prompt_type = 'push_back'
        WHERE n.family_id = \(member).family_id AND n.recipient_id = \(member).user_id AND n.status = 'open'
        GROUP BY a.nag_id
        """
    }

    /// Returns an expression that formats a moment as RFC 3339, with milliseconds in UTC.
    private static func rfc3339(_ moment: SQL) -> SQL {
        """
        to_char(\(moment) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        """
    }

    /// Reads a row with the person's pseudonym for each nag that they missed after `start` and not after `end`. It
    /// reads one row without times if there is none, and no row if the person never was a member of the family.
    static func misses(of user: UserID, in family: FamilyID, from start: Timestamp, to end: Timestamp) -> SQL {
        """
        SELECT u.pseudonym, e.at, e.due_at FROM memberships m JOIN users u ON u.id = m.user_id
        LEFT JOIN LATERAL (
            SELECT e.at, n.due_at FROM nag_events e JOIN nags n ON n.family_id = e.family_id AND n.id = e.nag_id
            WHERE e.family_id = m.family_id AND e.recipient_id = m.user_id AND e.event_type = 'nag_missed'
                AND e.at > \(start) AND e.at <= \(end)
        ) e ON true
        WHERE m.family_id = \(family) AND m.user_id = \(user)
        """
    }

    /// Reads the names of the active members of all families in which one of these people is an active member.
    static func displayNames(inFamiliesOf people: [UserID]) -> SQL {
        """
        SELECT DISTINCT u.display_name FROM memberships m
        JOIN memberships p ON p.family_id = m.family_id AND p.status = 'active' JOIN users u ON u.id = p.user_id
        WHERE m.user_id = ANY(\(SQLList(people))) AND m.status = 'active' AND u.display_name IS NOT NULL
        """
    }

    /// Returns the condition that the person asked for the text in a mediation row, or received it. Nobody else may
    /// read a text of the mediator before a draft with that text is executed.
    static func isReader(_ user: SQL, _ row: SQL) -> SQL {
        "(\(row).actor_id = \(user) OR \(user) = ANY(\(row).recipient_ids))"
    }

    /// Selects those of the `ids` that are mediation events visible to the member: their own questions, and digests
    /// that were sent to them.
    static func visibleRows(_ ids: [ResourceID], to user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT a.id FROM ai_mediation_events a
        WHERE a.family_id = \(family) AND a.id = ANY(\(SQLList(ids))) AND \(isReader("\(user)", "a"))
        """
    }

    /// Returns a part of an act, which records an answer. Without a nag its `nag_id` is zero.
    /// - Parameter promptType: the kind of the answer: usually the ID of the operation.
    static func insertAnswer(
        _ event: EventID, _ nag: NagID?, _ promptType: String, _ tone: AITone, _ summary: String,
        onBehalfOf user: UserID
    ) -> SQL {
        """
        INSERT INTO ai_mediation_events
            (family_id, id, nag_id, prompt_type, tone, summary, actor_id, at, sync_seq, sync_ts)
        SELECT family_id, \(event), \(nag ?? NagID(high: 0, low: 0)), \(promptType), \(tone), \(summary), \(user),
               now, seq, ts FROM ledger_stamp
        """
    }
}
