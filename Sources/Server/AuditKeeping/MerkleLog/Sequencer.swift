import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Appends the entries of all chains to one Merkle log and signs checkpoints, about twice a second.
///
/// Every server runs one; only the holder of an advisory lock works, so that another instance continues when that one
/// dies. A round is one transaction: entries are *pending* until it commits. Then they are *sequenced*, *integrated*
/// and *published* at the same time, because leaves, subtrees and checkpoint are committed together. If the process
/// dies at any point, the round happened completely or not at all, and the next round continues from the database's
/// state.
///
/// A round reads the rows of the families that may have pending entries (`family_clock.awaits_sequencing`), and of a
/// page of all others in turn, which finds entries without a mark later. The cost of a round does not grow with the
/// number of quiet families.
///
/// The sequencer signs nothing when the log does not extend what this instance signed or saw before
/// (`CheckpointMemory`), or is not exactly what its newest checkpoint says: that stops the log and raises the alarm.
final class Sequencer: PeriodicJob {
    /// The limits of the sequencer's sessions: one, with a long timeout, because no request waits for it.
    static let limits = Database.Limits(connections: 1, batchTimeout: .seconds(90))

    /// The points of a round where tests make it fail.
    enum Point: CaseIterable {
        case lockTaken, entriesRead, leavesWritten, nodesWritten, checkpointWritten, committed
    }

    /// The error for a log in the database that is not the one that was signed.
    enum Fault: Error, CustomStringConvertible {
        /// The root of the log's first `size` entries is not the one that was signed.
        case rootDiffers(size: Int64)
        /// The log, or its newest checkpoint, has fewer entries than were signed before.
        case shrunk(from: Int64, to: Int64)
        case hashMissing(size: Int64)
        /// The log has `size` entries, but its newest checkpoint covers the first `signed` only.
        case unsigned(size: Int64, signed: Int64)
        /// The newest checkpoint is neither signed by a key of this log nor remembered.
        case badSignature

        var description: String {
            switch self {
            case .rootDiffers(let size): "the log's first \(size) entries are not those that were signed"
            case .shrunk(let old, let new): "the log has shrunk from \(old) to \(new) entries"
            case .hashMissing(let size): "the log of \(size) entries lacks a hash"
            case .unsigned(let size, let signed):
                "the log has \(size) entries, of which checkpoints cover \(signed) only"
            case .badSignature: "the newest checkpoint is not signed by a key of this log"
            }
        }
    }

    /// The pace at which families are read.
    struct Pace: Sendable {
        /// The time for which a family must have written nothing before its mark is cleared. A round reads all marked
        /// families.
        var quietTime = Timestamp.Span.seconds(10)
        /// The number of families in the page of all families that a round reads.
        var pageSize: Int64 = 32
        init() {}
    }

    static let period = Duration.milliseconds(400)
    /// One in this many rounds compares the tree's root with the newest checkpoint even if there are no new entries.
    private static let roundsPerCheck = 100

    private let database: Database
    private let keys: AuditKeyring
    private let clock: any WallClock
    private let status: CheckpointStatus
    private let log: Log
    private let memory: CheckpointMemory
    private let pace: Pace
    private let reach: (Point) throws -> Void
    private var roundCount = 0
    /// The first family of the page that the next round reads.
    private var nextFamily = FamilyID.outside
    private(set) var isStopped = false
    /// Whether this process has stored its verifier keys in the database.
    private var areKeysPublished = false

    /// - Parameter reach: called at each point; an error that it throws ends the round.
    init(
        database: Database, keys: AuditKeyring, clock: any WallClock, status: CheckpointStatus, log: Log,
        memory: CheckpointMemory = CheckpointMemory(), pace: Pace = Pace(),
        reach: @escaping (Point) throws -> Void = { _ in }
    ) {
        self.database = database
        self.keys = keys
        self.clock = clock
        self.status = status
        self.log = log
        self.memory = memory
        self.pace = pace
        self.reach = reach
    }

    var poller: Poller { database.poller }

    func start() { runRounds() }

    func stop() { isStopped = true }

    /// Runs one round.
    /// - Returns: whether more entries may be waiting, because the batch, or one family's share of it, was full.
    func runRound() async throws -> Bool {
        let now = clock.now()
        if !areKeysPublished { try await publishKeys(at: now) }
        let checksTree = roundCount % Self.roundsPerCheck == 0
        roundCount += 1
        try await memory.refresh()
        let outcome = try await database.transaction { transaction in
            LoopBound(value: try await appendBatch(transaction, now, checksTree: checksTree))
        }.value
        try reach(.committed)
        if let next = outcome.nextFamily {
            nextFamily = next
            _ = try await database.query(LogStatements.clearSequencingMarks(quietSince: now - pace.quietTime))
        }
        if let newest = outcome.newest { try await memory.remember(newest.note, newest.checkpoint) }
        status.update { snapshot in
            if let newest = outcome.newest {
                snapshot.note = newest.note
                snapshot.checkpoint = newest.checkpoint
            }
            snapshot.exposedSince = outcome.oldestRemaining
            snapshot.isBehind = outcome.isFull
            snapshot.fault = nil
            snapshot.lastSuccessAt = now
            snapshot.failingSince = nil
        }
        return outcome.isFull
    }

    private struct Outcome {
        var newest: (note: String, checkpoint: Checkpoint)?
        /// The earliest time of an entry that the batch may have left out; nil if it left out none.
        var oldestRemaining: Timestamp?
        /// Whether the batch, or one family's share of it, was full.
        var isFull = false
        /// The family with which the next page begins; nil for an instance that did not hold the lock.
        var nextFamily: FamilyID?
    }

    /// Does the part of a round that is in its transaction: appends a batch and signs a checkpoint. An instance that
    /// does not get the lock only reads the newest checkpoint.
    private func appendBatch(_ transaction: Transaction, _ now: Timestamp, checksTree: Bool) async throws -> Outcome {
        let holdsLock: Bool = try await transaction.query(
            LogStatements.tryLock(at: clock.isComparedWithDatabase ? now : nil)
        ).onlyRow()["is_ours"]
        try reach(.lockTaken)
        // An instance without the lock still reads the newest checkpoint.
        let results = try await transaction.pipeline(
            holdsLock
                ? ["SET LOCAL statement_timeout = 60000", LogStatements.newestCheckpoint, LogStatements.size]
                    + [
                        LogStatements.pendingEntries(from: nextFamily, pageSize: pace.pageSize),
                        LogStatements.firstFamilyOfNextPage(from: nextFamily, pageSize: pace.pageSize),
                    ]
                : [LogStatements.newestCheckpoint])
        let newest = try results[holdsLock ? 1 : 0].first.map { row in try trustedCheckpoint(try row["note"]) }
        if memory.newestCheckpoint == nil, let newest { warnOfUnverifiedLog(newest.checkpoint) }
        try await checkContinuation(transaction, newest?.checkpoint)
        guard holdsLock else { return Outcome(newest: newest) }
        try reach(.entriesRead)

        let size: Int64 = try results[2].onlyRow()["size"]
        let signedSize = newest?.checkpoint.size ?? 0
        if size < signedSize { throw Fault.shrunk(from: signedSize, to: size) }
        if size > signedSize { throw Fault.unsigned(size: size, signed: signedSize) }
        let leaves = try results[3].map { row in
            LogLeaf(family: try row["family_id"], number: try row["n"], entryHash: try row["hash"])
        }
        let oldestRemaining = try Self.oldestRemaining(results[3])
        var outcome = Outcome(newest: newest, isFull: oldestRemaining != nil)
        outcome.nextFamily = try results[4].first.map { row in try row["family_id"] } ?? FamilyID.outside
        let isCheckpointDue = newest.map { now - $0.checkpoint.time >= CheckpointStatus.heartbeatInterval } ?? true
        guard !leaves.isEmpty || isCheckpointDue || checksTree else { return outcome }
        guard var frontier = try await StoredLog(transaction).readFrontier(at: size) else {
            throw Fault.hashMissing(size: size)
        }
        if let newest, newest.checkpoint.root != frontier.root { throw Fault.rootDiffers(size: size) }
        guard !leaves.isEmpty || isCheckpointDue else { return outcome }
        // No checkpoint claims an earlier time than the one before it, even if a clock that ran ahead signed that one.
        let time = max(now, newest?.checkpoint.time ?? now)
        outcome.newest = try await appendLeaves(transaction, &frontier, leaves, at: time)
        outcome.oldestRemaining = oldestRemaining
        return outcome
    }

    /// Returns the earliest time of entries that a batch may have left out, because the batch or a family's share of it
    /// is full; nil when the batch has all entries.
    private static func oldestRemaining(_ batch: Rows) throws -> Timestamp? {
        var counts: [FamilyID: Int] = [:]
        for (family, time) in try batch.map({ row in (try row["family_id"] as FamilyID, try row["at"] as Timestamp) }) {
            counts[family, default: 0] += 1
            if counts[family] == LogStatements.entryLimitPerFamily { return time }
        }
        return batch.count == LogStatements.entryLimitPerBatch ? try batch[batch.count - 1]["at"] : nil
    }

    /// Appends the leaves, and signs a checkpoint of the result.
    private func appendLeaves(
        _ transaction: Transaction, _ frontier: inout TileFrontier, _ leaves: [LogLeaf], at time: Timestamp
    ) async throws -> (note: String, checkpoint: Checkpoint) {
        let size = frontier.size
        var hashes: [(leaf: LogLeaf, hash: [UInt8])] = []
        var nodes: [TileFrontier.Node] = []
        for leaf in leaves {
            let hash = leaf.hash
            hashes.append((leaf, hash))
            nodes += frontier.append(hash).filter { $0.level > 0 }
        }
        if !leaves.isEmpty { _ = try await transaction.query(LogStatements.insertLeaves(hashes, from: size)) }
        try reach(.leavesWritten)
        if !nodes.isEmpty { _ = try await transaction.query(LogStatements.insertNodes(nodes)) }
        try reach(.nodesWritten)
        let checkpoint = Checkpoint(origin: keys.origin, size: frontier.size, root: frontier.root, time: time)
        let note = checkpoint.signed(by: keys.signingKeys)
        _ = try await transaction.query(LogStatements.insertCheckpoint(checkpoint, note))
        try reach(.checkpointWritten)
        return (note.fullText, checkpoint)
    }

    /// Checks that the newest checkpoint in the database extends the one that this instance remembers, by the tables'
    /// hashes.
    private func checkContinuation(_ transaction: Transaction, _ newest: Checkpoint?) async throws {
        guard let remembered = memory.newestCheckpoint, newest != remembered else { return }
        let size = newest?.size ?? 0
        guard size >= remembered.size else { throw Fault.shrunk(from: remembered.size, to: size) }
        guard let newest else { return }
        guard try await StoredLog(transaction).isConsistent(from: remembered, to: newest) else {
            throw Fault.rootDiffers(size: remembered.size)
        }
    }

    private func warnOfUnverifiedLog(_ checkpoint: Checkpoint) {
        log.write(.warning, "audit_log_taken_on_trust") {
            $0.field("entries", Int(checkpoint.size))
            $0.field("cause", "nothing is remembered of the log: this is a first start, or the checkpoint file is gone")
        }
    }

    private func trustedCheckpoint(_ text: String) throws(Fault) -> (note: String, checkpoint: Checkpoint) {
        guard let checkpoint = StoredLog.trustedCheckpoint(text, keys, remembered: memory.newestCheckpoint) else {
            throw .badSignature
        }
        return (text, checkpoint)
    }

    private func publishKeys(at now: Timestamp) async throws {
        for (key, handover) in keys.handovers {
            _ = try await database.query(LogStatements.insertKey(key, handover, at: now))
        }
        areKeysPublished = true
    }

    /// Records the failure of a round in the status, and logs it: a fault of the log only once.
    func report(_ error: any Error) {
        guard !isStopped else { return }
        let fault = error as? Fault
        let isNew = fault?.description != status.current.fault
        let now = clock.now()
        status.update { snapshot in
            if let fault { snapshot.fault = fault.description }
            snapshot.failingSince = snapshot.failingSince ?? snapshot.lastSuccessAt ?? now
        }
        guard fault == nil || isNew else { return }
        log.write(fault == nil ? .warning : .error, fault == nil ? "audit_log_delayed" : "audit_log_stopped") {
            $0.field("cause", fault?.description ?? "\(error)")
        }
    }
}
