import Domain
import Reactor

/// What this process knows of the background check of the audit log: written by `BackgroundCheck`, read by all loops.
public final class PassStatus: Sendable {
    /// How far the pass under way is, and what the last full one came to.
    struct Status: Sendable, Equatable {
        var startedAt: Timestamp?
        var families: Int64 = 0
        var entries: Int64 = 0
        var findings: Int64 = 0
        var firstFinding: String?
        /// Why not everything could be looked at in the pass under way.
        var incomplete: String?
        var finishedAt: Timestamp?
        var lastFamilies: Int64 = 0
        var lastEntries: Int64 = 0
        var lastFindings: Int64 = 0
        var lastFinding: String?
        var lastIncomplete: String?

        /// Findings of the pass under way count at once; those of the last pass until a full pass is without any.
        var verdict: Verdict {
            if findings > 0 || lastFindings > 0 { return .unexplained }
            if finishedAt == nil { return .running }
            return lastIncomplete == nil ? .explained : .incomplete
        }
    }

    /// Whether somebody should look.
    enum Verdict: String, Sendable {
        /// The log holds and explains the state.
        case explained
        /// Something does not hold, or a row is not what the log tells.
        case unexplained
        /// Not everything could be looked at.
        case incomplete
        /// There was no full pass yet.
        case running
        /// This server does not look.
        case off
    }

    private let status = Locked<Status?>(nil)

    /// Nil where this server does not look, or has not learned yet.
    var now: Status? { status.withLock { $0 } }
    var verdict: Verdict { now?.verdict ?? .off }

    func update(_ newest: Status) { status.withLock { $0 = newest } }
}
