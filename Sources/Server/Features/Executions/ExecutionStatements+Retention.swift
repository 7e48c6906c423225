import Domain
import SQL

extension ExecutionStatements {
    /// The retention rule for executions: each person chooses the period.
    static let retention = RetentionRule(technical: "ai_executions", Retention.year) { count, now in
        """
        DELETE FROM ai_executions WHERE (family_id, user_id, created_at, id) IN (
            SELECT e.family_id, e.user_id, e.created_at, e.id
            FROM memberships m
            LEFT JOIN preferences p ON p.family_id = m.family_id AND p.user_id = m.user_id
            CROSS JOIN LATERAL (
                SELECT x.family_id, x.user_id, x.created_at, x.id FROM ai_executions x
                WHERE x.family_id = m.family_id AND x.user_id = m.user_id
                    AND x.created_at < \(now) - make_interval(days => \(retentionDays))
                ORDER BY x.created_at, x.id LIMIT \(count)
            ) e LIMIT \(count))
        """
    }

    /// An expression: the number of days for which a person's executions are stored. It is their preference
    /// `ai_log_retention_days` within its bounds, or the default.
    private static let retentionDays: SQL = {
        let bounds = Preferences.aiLogRetentionDaysRange
        return """
            (CASE WHEN jsonb_typeof(p.prefs->'ai_log_retention_days') = 'number'
                  THEN least(greatest((p.prefs->>'ai_log_retention_days')::numeric, \(bounds.lowerBound)),
                             \(bounds.upperBound))
                  ELSE \(Preferences().aiLogRetentionDays) END)::integer
            """
    }()

    static let retentionOfSessions = RetentionRule(
        technical: "ai_sessions", AITokens.sessionIdleLifetime
    ) { count, now in
        """
        DELETE FROM ai_sessions WHERE digest IN (
            SELECT digest FROM ai_sessions WHERE used_at <= \(now - AITokens.sessionIdleLifetime)
            ORDER BY used_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }

    static let retentionOfConfirmations = RetentionRule(
        technical: "ai_confirmations", AITokens.confirmationLifetime
    ) { count, now in
        """
        DELETE FROM ai_confirmations WHERE digest IN (
            SELECT digest FROM ai_confirmations WHERE expires_at < \(now)
            ORDER BY expires_at LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
