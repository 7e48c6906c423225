import Contract
import JSON
import Reactor

/// Counts how the standby answers the reads of all loops, and logs when it has answered none for a while.
final class StandbyUse: Sendable {
    /// The result of one read.
    enum Result: Sendable, Equatable {
        /// The standby has returned the rows.
        case answered
        /// The standby has not replayed the family's newest change.
        case behind
        /// The standby cannot be reached or has failed, or the server is not a standby; with the cause for the log.
        case unavailable(String)
    }

    let answered = Counter()
    let behind = Counter()
    let unavailable = Counter()
    private let log: Log
    private let outage = Locked(StandbyOutage())

    init(_ log: Log) { self.log = log }

    func record(_ result: Result, at now: MonotonicTime) {
        let reason: String
        switch result {
        case .answered:
            answered.add()
            if outage.withLock({ $0.end() }) { log.write(.info, "standby_answers") }
            return
        case .behind:
            behind.add()
            reason = "it is behind the primary, or a standby of another one"
        case .unavailable(let cause):
            unavailable.add()
            reason = cause
        }
        guard outage.withLock({ $0.recordFailure(at: now) }) else { return }
        log.write(.warning, "standby_does_not_answer") { $0.field("reason", reason) }
    }
}

/// A period in which the standby answers no read. It is logged once, when it has lasted for `logDelay`.
struct StandbyOutage {
    static let logDelay = Duration.seconds(3)

    private var start: MonotonicTime?
    private var isLogged = false

    /// Records that a read was not answered.
    /// - Returns: whether it is time to log the outage.
    mutating func recordFailure(at now: MonotonicTime) -> Bool {
        let start = start ?? now
        self.start = start
        guard !isLogged, start + Self.logDelay <= now else { return false }
        isLogged = true
        return true
    }

    /// Records that a read was answered.
    /// - Returns: whether the outage was logged.
    mutating func end() -> Bool {
        defer { (start, isLogged) = (nil, false) }
        return isLogged
    }
}
