import Domain
import Reactor

/// The status of the background check in this process: written by `BackgroundCheck`, read by all loops.
public final class PassStatus: Sendable {
    /// The progress of the running pass, and the result of the last full one.
    struct Status: Sendable, Equatable {
        /// The time at which the running pass began; nil while none runs.
        var startedAt: Timestamp?
        /// The number of families that the running pass has checked.
        var families: Int64 = 0
        /// The number of entries that the running pass has checked.
        var entries: Int64 = 0
        /// The number of findings of the running pass.
        var findings: Int64 = 0
        /// The first finding of the running pass, in words; nil if it has found nothing.
        var firstFinding: String?
        /// The reason for which the running pass could not check everything.
        var incompleteReason: String?
        /// The time at which the last full pass ended; nil before the first. It and the members after it are about that
        /// pass.
        var finishedAt: Timestamp?
        /// The number of families that the last full pass checked.
        var lastPassFamilies: Int64 = 0
        /// The number of entries that the last full pass checked.
        var lastPassEntries: Int64 = 0
        /// The number of findings of the last full pass.
        var lastPassFindings: Int64 = 0
        /// The first finding of the last full pass, in words; nil if it found nothing.
        var lastPassFirstFinding: String?
        /// The reason for which the last full pass could not check everything; nil if it could.
        var lastPassIncompleteReason: String?

        /// The progress of the running pass in percent of the last pass's entries, at most 99; nil if no pass runs, or
        /// if there was none before.
        var percent: Int? {
            guard startedAt != nil, lastPassEntries > 0 else { return nil }
            return Int(min(99, entries * 100 / lastPassEntries))
        }

        /// The verdict. Findings of the running pass count at once; findings of the last pass count until a full pass
        /// finds nothing.
        var verdict: Verdict {
            if findings > 0 || lastPassFindings > 0 { return .unexplained }
            if finishedAt == nil { return .running }
            return lastPassIncompleteReason == nil ? .explained : .incomplete
        }
    }

    /// The result for operators.
    enum Verdict: String, Sendable {
        /// The log is valid and explains the database's state.
        case explained
        /// The log is invalid, or a row differs from what the log explains.
        case unexplained
        /// Not everything could be checked.
        case incomplete
        /// No full pass has ended yet.
        case running
        /// This server runs no check, or has read no status yet.
        case off
    }

    private let status = Locked<Status?>(nil)
    private let lockedOpenFindingCount = Locked(0)

    /// The newest status; nil where this server runs no check, or has read no status yet.
    var current: Status? { status.withLock { $0 } }
    var verdict: Verdict { current?.verdict ?? .off }

    /// The number of findings of verifications on request that nobody has acknowledged, as this process last read it.
    var openFindingCount: Int { lockedOpenFindingCount.withLock { $0 } }

    func setOpenFindingCount(_ count: Int) { lockedOpenFindingCount.withLock { $0 = count } }

    func update(_ newest: Status) { status.withLock { $0 = newest } }
}
