import Postgres
import Reactor
import SQL

/// How many nags, people and families there are, for the dashboard.
///
/// Counting reads whole indexes, so no request waits for its own count: one at most is under way in this process, all are
/// answered from the last, and a count is made again only after `RefreshSchedule` allows it. The figures are at most that old
/// when somebody looks regularly.
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

    /// The counts made last; nil before the first are there, or while the database has never answered.
    func current(_ database: Database) async -> Counts? {
        let (isDue, known) = state.withLock { state in (state.schedule.begin(at: .now()), state.counts) }
        guard isDue else { return known }
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
        ).one()
        return Counts(
            openNags: try row["open"], completedNags: try row["completed"], missedNags: try row["missed"],
            users: try row["users"], families: try row["families"])
    }
}

/// When something costly may be done again: one at a time, five seconds after the last at the earliest, and later the
/// longer it took, so that it never takes more than a hundredth of the time.
struct RefreshSchedule {
    static let period = Duration.seconds(5)

    private var started: MonotonicTime?
    private var due: MonotonicTime?

    /// True when the caller is to do it now, and to tell when it is done.
    mutating func begin(at now: MonotonicTime) -> Bool {
        guard started == nil, due.map({ $0 <= now }) ?? true else { return false }
        started = now
        return true
    }

    mutating func end(at now: MonotonicTime) {
        guard let started else { return }
        due = now + max(Self.period, now.elapsed(since: started) * 100)
        self.started = nil
    }
}
