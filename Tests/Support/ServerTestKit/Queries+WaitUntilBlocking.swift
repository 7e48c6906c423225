import Postgres
import SQL
import Testing

extension Queries {
    /// Waits until a lock of this session's transaction keeps another session waiting.
    func waitUntilBlocking(_ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for attempt in 0... {
            let isBlocking: Bool = try await query(
                """
                SELECT EXISTS (SELECT FROM pg_locks l WHERE NOT l.granted
                               AND pg_backend_pid() = ANY (pg_blocking_pids(l.pid))) AS is_blocking
                """
            ).onlyRow()["is_blocking"]
            if isBlocking { return }
            try #require(attempt < 100_000, comment, sourceLocation: sourceLocation)
        }
    }
}
