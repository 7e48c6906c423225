import Postgres
import Reactor
import SQL

/// The numbers of nags, people and families, for the dashboard.
///
/// Counting reads whole indexes. So at most one count runs in this process, and the next one begins only when
/// `RefreshSchedule` allows it. Only the request that begins a count waits for it; all others get the latest counts.
final class ProductCounts: Sendable {
    struct Counts: Sendable, Equatable {
        var openNags = 0
        var completedNags = 0
        var missedNags = 0
        var users = 0
        var families = 0
    }

    private struct State {
        var counts: Counts?
        var schedule = RefreshSchedule()
    }

    private let state = Locked(State())

    /// Returns the latest counts, after counting again if that is due; nil before the first count that succeeded.
    func current(_ database: Database) async -> Counts? {
        let (isDue, latestCounts) = state.withLock { state in (state.schedule.beginIfDue(at: .now()), state.counts) }
        guard isDue else { return latestCounts }
        let counts = try? await Self.count(database)
        return state.withLock { state in
            if let counts { state.counts = counts }
            state.schedule.end(at: .now())
            return state.counts
        }
    }

    private static func count(_ database: Database) async throws -> Counts {
        let row = try await database.query(
            """
            SELECT (SELECT count(*) FROM users WHERE status <> 'deleted') AS users,
                   (SELECT count(*) FROM families) AS families, n.open, n.completed, n.missed
            FROM (SELECT count(*) FILTER (WHERE status = 'open') AS open,
                         count(*) FILTER (WHERE status = 'completed') AS completed,
                         count(*) FILTER (WHERE status = 'missed') AS missed FROM nags) n
            """
        ).onlyRow()
        return Counts(
            openNags: try row["open"], completedNags: try row["completed"], missedNags: try row["missed"],
            users: try row["users"], families: try row["families"])
    }
}

/// The schedule of a costly read. It runs once at a time, at least five seconds after the last run, and takes at most
/// about a hundredth of the time.
struct RefreshSchedule {
    static let minPause = Duration.seconds(5)

    private var startTime: MonotonicTime?
    private var nextStart: MonotonicTime?

    /// Returns whether the caller should run the read now. If so, the caller MUST call `end` afterwards.
    mutating func beginIfDue(at now: MonotonicTime) -> Bool {
        guard startTime == nil, nextStart.map({ $0 <= now }) ?? true else { return false }
        startTime = now
        return true
    }

    mutating func end(at now: MonotonicTime) {
        guard let startTime else { return }
        nextStart = now + max(Self.minPause, now.elapsed(since: startTime) * 100)
        self.startTime = nil
    }
}
