import Domain
import Postgres
import SQL

/// Queues costly reads (verifying, exporting or counting the audit log) statement by statement: one at a time for each
/// person and two on a loop, so that they never hold all sessions, and the loop serves others in between.
struct ThrottledQueries: Queries {
    let database: Database
    let limiter: KeyedLimiter<UserID>
    let person: UserID

    func query(_ statement: SQL) async throws(PostgresError) -> Rows {
        do { try await limiter.enter(person) } catch { throw .unavailable("too many costly reads are waiting") }
        defer { limiter.leave(person) }
        return try await database.query(statement)
    }
}

extension Services {
    func throttledQueries(of caller: Caller) -> ThrottledQueries {
        ThrottledQueries(database: database, limiter: costlyReadLimiter, person: caller.userID)
    }
}
