import Audit
import Domain
import Reactor

/// What this process knows of the log's newest checkpoint: written by the sequencer, read by all loops.
public final class CheckpointStatus: Sendable {
    /// How the log stands.
    struct Snapshot: Sendable {
        /// The signed note, and what it says.
        var note: String?
        var checkpoint: Checkpoint?
        /// When the oldest entry was written that is in no checkpoint yet; nil when all are.
        var exposedSince: Timestamp?
        /// Why the log does not go on, when that is more than a passing trouble.
        var fault: String?
        /// When a round last came to its end.
        var seen: Timestamp?
    }

    /// Whether somebody should look.
    enum Alarm: String, Sendable {
        case none = "current"
        /// Entries wait longer than the exposure window, or checkpoints are overdue.
        case late
        /// The log in the database is not what was signed.
        case broken
        /// This server keeps no log.
        case off
    }

    /// How long an entry may wait for its checkpoint.
    static let exposureWindow = AuditLogVerifier.Policy().exposureWindow
    /// A checkpoint is signed this often, even when nothing happens.
    static let heartbeat = Timestamp.Span.minutes(5)
    /// Rounds of the sequencer are this far apart at most.
    static let longestPause = Timestamp.Span.seconds(30)
    /// No checkpoint for so long is an alarm.
    static let longestSilence = AuditLogVerifier.Policy().longestSilence

    private let snapshot = Locked(Snapshot())
    let isOn: Bool
    /// How the background check of the log stands.
    let pass = PassStatus()

    /// - Parameter isOn: whether this server has the keys to keep a log.
    init(isOn: Bool) { self.isOn = isOn }

    var current: Snapshot { snapshot.withLock { $0 } }

    func update(_ change: (inout Snapshot) -> Void) { snapshot.withLock { change(&$0) } }

    func alarm(at now: Timestamp) -> Alarm {
        guard isOn else { return .off }
        let snapshot = current
        if snapshot.fault != nil { return .broken }
        guard let checkpoint = snapshot.checkpoint, now - checkpoint.time < Self.longestSilence else { return .late }
        if let seen = snapshot.seen, now - seen > Self.longestPause { return .late }
        if let since = snapshot.exposedSince, now - since > Self.exposureWindow { return .late }
        return .none
    }
}
