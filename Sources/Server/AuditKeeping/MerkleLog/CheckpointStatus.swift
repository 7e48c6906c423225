import Audit
import Domain
import Reactor

/// The status of the log's newest checkpoint in this process: written by the sequencer, read by all loops.
public final class CheckpointStatus: Sendable {
    /// The status at one moment.
    struct Snapshot: Sendable {
        /// The signed note, and the checkpoint in it.
        var note: String?
        var checkpoint: Checkpoint?
        /// The earliest time of an entry that the last round may have left without a checkpoint; nil if it left none,
        /// or if another instance did the work.
        var exposedSince: Timestamp?
        /// Whether entries of any age may have no position in the log yet: before the first round, and after a round
        /// that could not sequence all of them, such as the history of a family that was just seeded.
        var isBehind = true
        /// The reason for which the log makes no progress; nil while there is none, or only a temporary one.
        var fault: String?
        /// The time at which the last successful round began.
        var lastSuccessAt: Timestamp?
        /// The time from which entries may have no checkpoint; nil while rounds succeed.
        var failingSince: Timestamp?

        /// Returns the time for which the oldest entry may have waited for a checkpoint.
        func exposure(at now: Timestamp) -> Timestamp.Span {
            guard let since = exposedSince ?? failingSince else { return .seconds(0) }
            return max(.seconds(0), now - since)
        }
    }

    /// The alarm that operators are shown.
    enum Alarm: String, Sendable {
        /// The log is signed in time.
        case none = "current"
        /// Entries have waited longer than the exposure window, a checkpoint is overdue, or the sequencer has had no
        /// successful round for `maxTimeWithoutRound`.
        case late
        /// The log in the database is not the one that was signed.
        case broken
        /// This server signs no log.
        case off
    }

    /// The longest time for which an entry may wait for its checkpoint.
    static let exposureWindow = AuditLogVerifier.Policy().exposureWindow
    /// The interval at which a checkpoint is signed although nothing happened.
    static let heartbeatInterval = Timestamp.Span.minutes(5)
    /// The time without a successful round of the sequencer that raises the alarm.
    static let maxTimeWithoutRound = Timestamp.Span.seconds(30)
    /// The time without a checkpoint that raises the alarm.
    static let maxTimeWithoutCheckpoint = AuditLogVerifier.Policy().largestCheckpointAge

    private let snapshot = Locked(Snapshot())
    /// Whether this server signs the log.
    let isOn: Bool
    /// The status of the background check.
    let passStatus = PassStatus()

    /// - Parameter isOn: whether this server has the keys to sign a log, and may do so.
    init(isOn: Bool) { self.isOn = isOn }

    var current: Snapshot { snapshot.withLock { $0 } }

    func update(_ change: (inout Snapshot) -> Void) { snapshot.withLock { change(&$0) } }

    /// The policy by which this server verifies its own log. While the sequencer catches up, an entry may wait a
    /// hundred years for its position; otherwise, or when a fault stopped the sequencer, 30 seconds.
    var verificationPolicy: AuditLogVerifier.Policy {
        let snapshot = current
        var policy = AuditLogVerifier.Policy()
        policy.exposureWindow = isOn && snapshot.isBehind && snapshot.fault == nil ? .days(36_500) : .seconds(30)
        return policy
    }

    func alarm(at now: Timestamp) -> Alarm {
        guard isOn else { return .off }
        let snapshot = current
        if snapshot.fault != nil { return .broken }
        guard let checkpoint = snapshot.checkpoint, now - checkpoint.time < Self.maxTimeWithoutCheckpoint else {
            return .late
        }
        if let last = snapshot.lastSuccessAt, now - last > Self.maxTimeWithoutRound { return .late }
        if let since = snapshot.exposedSince, now - since > Self.exposureWindow { return .late }
        return .none
    }
}
