import Contract
import Domain
import Postgres
import SQL

/// The count of a person's acts of one kind within a day, kept in the database for all instances.
///
/// The day begins with the first act that is counted. A refused request is not counted and leaves no audit entry.
struct DailyCount {
    let limit: DailyLimit
    let user: UserID

    /// Returns the statement, a part of an act, that counts the act. The act MUST require that nothing has changed
    /// since its chain was read; otherwise several acts at once may exceed the limit.
    /// - Throws: 429 when the person has reached the limit.
    func checkedIncrement(at now: Timestamp, _ queries: any Queries) async throws -> SQL {
        let rows = try await queries.query(
            """
            SELECT day_started, count FROM daily_counts
            WHERE user_id = \(user) AND act = \(limit.rawValue) AND day_started > \(now - DailyLimit.day)
            """)
        if let row = rows.first, try row["count"] >= limit.perDay {
            let start: Timestamp = try row["day_started"]
            throw APIError.dailyLimitIsReached(limit, until: start + DailyLimit.day, at: now)
        }
        return """
            INSERT INTO daily_counts AS d (user_id, act, day_started, count)
            SELECT \(user), \(limit.rawValue), \(now), 1 FROM ledger_stamp
            ON CONFLICT (user_id, act) DO UPDATE SET
                day_started = CASE WHEN d.day_started > \(now - DailyLimit.day) THEN d.day_started ELSE \(now) END,
                count = CASE WHEN d.day_started > \(now - DailyLimit.day) THEN d.count + 1 ELSE 1 END
            """
    }

    /// Deletes at most `count` counts of days that have ended.
    static func deleteExpired(_ count: Int, at now: Timestamp) -> SQL {
        """
        DELETE FROM daily_counts WHERE (user_id, act) IN (
            SELECT user_id, act FROM daily_counts WHERE day_started <= \(now - DailyLimit.day)
            ORDER BY day_started LIMIT \(count) FOR UPDATE SKIP LOCKED)
        """
    }
}
