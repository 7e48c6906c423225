import Contract
import Domain
import NagzAI
import SQL

/// The statements on executions and AI sessions.
enum ExecutionStatements {
    /// Returns the statement that inserts an execution, as part of an act with the same time and trace.
    /// - Parameters:
    ///   - session: the digest of the AI session's token; nil for a question outside AI sessions.
    ///   - question: the keyed digest of the question and its settings; nil if the client gave the question no ID.
    ///   - ledger: the act's ledger: a connection's for a question about the connection's nag.
    static func insert(
        _ record: ExecutionRecord, session: [UInt8]?, _ question: [UInt8]?, in ledger: FamilyID
    ) -> SQL {
        let family: SQL = record.familyID == ledger ? "family_id" : "\(record.familyID)"
        return insertion(record, family, trace: "trace", session, question)
    }

    /// Part of an act in the person's own family: stores the record of a declined question, under the question's trace.
    static func insert(declined record: ExecutionRecord) -> SQL {
        insertion(record, "family_id", trace: "\(record.traceID)", nil, nil)
    }

    private static func insertion(
        _ record: ExecutionRecord, _ family: SQL, trace: SQL, _ session: [UInt8]?, _ question: [UInt8]?
    ) -> SQL {
        let report = StoredReport(record.execution)
        return """
            INSERT INTO ai_executions (family_id, user_id, created_at, id, trace_id, question_id, question_digest,
                                       session_digest, nag_id, operation, route, error_code, report, evaluated)
            SELECT \(family), \(record.userID), now, \(record.id), \(trace), \(rare: record.questionID), \(rare: question),
                   \(rare: session), \(rare: record.nagID), \(record.operation.rawValue), \(record.execution.route?.rawValue),
                   \(rare: record.errorCode), \(report.jsonText)::json, \(rare: report.evaluatedBytes)
            FROM ledger_stamp
            """
    }

    /// Reads the digest of the first question that a person asked under an ID, if the history still has it.
    static func firstQuestionDigest(_ id: QuestionID, of user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT e.question_digest FROM ai_executions e
        WHERE e.family_id = \(family) AND e.user_id = \(user) AND e.question_id = \(id)
            AND e.question_digest IS NOT NULL
        ORDER BY e.created_at, e.id LIMIT 1
        """
    }

    // MARK: History

    private static let columns: SQL = """
        e.family_id, e.user_id, e.created_at, e.id, e.trace_id, e.question_id, e.nag_id, e.operation, e.route,
        e.error_code, e.report::text AS report, e.evaluated
        """

    /// Reads a page of executions, newest first. It examines at most `depth` executions and returns those that match
    /// the filter, but at most `limit + 1` rows. If it examined `depth` executions, it also returns the last of them,
    /// matching or not, with `is_last`: there may be older ones.
    /// - Parameter user: the person whose executions are read; nil for all members.
    static func scan(
        _ filter: ExecutionFilter, of user: UserID?, before position: ExecutionPosition?, depth: Int, limit: Int
    ) -> SQL {
        let person: SQL = user.map { "AND m.user_id = \($0)" } ?? ""
        let before: SQL = position.map { "AND (e.created_at, e.id) < (\($0.createdAt), \($0.id))" } ?? ""
        let since: SQL = filter.since.map { "AND e.created_at >= \($0)" } ?? ""
        let until: SQL = filter.until.map { "AND e.created_at < \($0)" } ?? ""
        return """
            SELECT \(columns), s.matches, s.position = \(depth) AS is_last
            FROM (
                SELECT examined.*, row_number() OVER () AS position
                FROM (
                    SELECT m.family_id, m.user_id, newest.*
                    FROM memberships m CROSS JOIN LATERAL (
                        SELECT e.created_at, e.id, \(condition(filter)) AS matches FROM ai_executions e
                        WHERE e.family_id = m.family_id AND e.user_id = m.user_id \(before) \(since) \(until)
                        ORDER BY e.created_at DESC, e.id DESC LIMIT \(depth)
                    ) newest
                    WHERE m.family_id = \(filter.familyID) \(person)
                    ORDER BY newest.created_at DESC, newest.id DESC LIMIT \(depth)
                ) examined
            ) s
            JOIN ai_executions e USING (family_id, user_id, created_at, id)
            WHERE s.matches OR s.position = \(depth)
            ORDER BY s.position LIMIT \(limit + 1)
            """
    }

    /// Returns the condition for the fields of the filter other than the family, the person and the times.
    private static func condition(_ filter: ExecutionFilter) -> SQL {
        var condition: SQL = "true"
        if let trace = filter.traceID { condition = "\(condition) AND e.trace_id = \(trace)" }
        if let question = filter.questionID {
            condition = "\(condition) AND e.question_id IS NOT DISTINCT FROM \(question)"
        }
        if let operation = filter.operation { condition = "\(condition) AND e.operation = \(operation.rawValue)" }
        if let route = filter.route { condition = "\(condition) AND e.route = \(route.rawValue)" }
        switch filter.result {
        case .success: condition = "\(condition) AND e.error_code IS NULL"
        case .error: condition = "\(condition) AND e.error_code IS NOT NULL"
        case nil: break
        }
        return condition
    }

    /// Whether a scan may have to skip rows that do not match the filter.
    static func isSelective(_ filter: ExecutionFilter) -> Bool {
        filter.traceID != nil || filter.questionID != nil || filter.operation != nil || filter.route != nil
            || filter.result != nil
    }

    /// Reads the attempts under a trace, the oldest first, at most 100.
    /// - Parameter user: the person whose attempts are read; nil for all members.
    static func attempts(_ trace: TraceID, of user: UserID?, in family: FamilyID) -> SQL {
        let person: SQL = user.map { "AND e.user_id = \($0)" } ?? ""
        return """
            SELECT \(columns) FROM ai_executions e
            WHERE e.family_id = \(family) AND e.trace_id = \(trace) \(person)
            ORDER BY e.created_at, e.id LIMIT 100
            """
    }

    /// Counts the person's attempts under a trace.
    static func count(_ trace: TraceID, of user: UserID, in family: FamilyID) -> SQL {
        """
        SELECT count(*) AS count FROM ai_executions
        WHERE family_id = \(family) AND trace_id = \(trace) AND user_id = \(user)
        """
    }

    /// Counts the person's executions before a moment, up to `limit`.
    static func count(of user: UserID, in family: FamilyID, before moment: Timestamp, limit: Int) -> SQL {
        "SELECT count(*) AS count FROM (\(oldestExecutions(of: user, in: family, before: moment, limit: limit))) x"
    }

    /// Part of an act: deletes the oldest `limit` executions before a moment.
    static func delete(of user: UserID, in family: FamilyID, before moment: Timestamp, limit: Int) -> SQL {
        """
        DELETE FROM ai_executions WHERE (family_id, user_id, created_at, id) IN (
            \(oldestExecutions(of: user, in: family, before: moment, limit: limit)))
            AND EXISTS (SELECT FROM ledger_stamp)
        """
    }

    private static func oldestExecutions(
        of user: UserID, in family: FamilyID, before moment: Timestamp, limit: Int
    ) -> SQL {
        """
        SELECT e.family_id, e.user_id, e.created_at, e.id FROM ai_executions e
        WHERE e.family_id = \(family) AND e.user_id = \(user) AND e.created_at < \(moment)
        ORDER BY e.created_at, e.id LIMIT \(limit)
        """
    }

    /// Part of an act: deletes the person's executions under a trace.
    static func delete(_ trace: TraceID, of user: UserID) -> SQL {
        """
        DELETE FROM ai_executions e USING ledger_stamp
        WHERE e.family_id = ledger_stamp.family_id AND e.trace_id = \(trace) AND e.user_id = \(user)
        """
    }

    /// Part of a purge: deletes all executions of the person.
    static func deleteAll(of user: UserID) -> SQL {
        """
        DELETE FROM ai_executions e USING ledger_stamp, memberships m
        WHERE m.user_id = \(user) AND e.family_id = m.family_id AND e.user_id = m.user_id
        """
    }

    // MARK: AI sessions

    /// Part of an act: stores a new AI session under the digest of its token.
    static func insertSession(_ digest: [UInt8], of user: UserID, at now: Timestamp) -> SQL {
        """
        INSERT INTO ai_sessions (digest, family_id, user_id, created_at, used_at)
        SELECT \(digest), family_id, \(user), \(now), \(now) FROM ledger_stamp
        """
    }

    /// Returns one row unless the AI session has expired or ended.
    static func session(_ digest: [UInt8], of user: UserID, at now: Timestamp) -> SQL {
        """
        SELECT s.family_id FROM ai_sessions s
        WHERE s.digest = \(digest) AND s.user_id = \(user) AND s.used_at > \(now - AITokens.sessionIdleLifetime)
        """
    }

    /// Part of an act: records that the AI session was used.
    static func markUsed(session digest: [UInt8], at now: Timestamp) -> SQL {
        """
        UPDATE ai_sessions s SET used_at = greatest(s.used_at, \(now)) FROM ledger_stamp WHERE s.digest = \(digest)
        """
    }

    /// Part of an act: ends an AI session.
    static func delete(session digest: [UInt8]) -> SQL {
        "DELETE FROM ai_sessions s USING ledger_stamp WHERE s.digest = \(digest)"
    }
}
