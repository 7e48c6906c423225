import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Brings the entries of all chains into one Merkle log and signs how it stands, about twice a second.
///
/// Every server runs one; whoever holds the lock of the moment does the work, so there is nothing to take over when one
/// dies. A round is one transaction: entries are *pending* until it commits; then they are *sequenced*, *integrated* and
/// *published* at once, leaves, subtrees and checkpoint together. If the process dies at any point, the round either
/// happened whole or not at all, and the next goes on from what the database holds.
///
/// Nothing is signed over a log that is not what was signed before: a root that differs, or a size below the highest this
/// process has seen, stops the log and raises the alarm.
final class Sequencer {
    /// The points of a round, at which tests make it fail.
    enum Step: CaseIterable {
        case turnTaken, read, leavesWritten, nodesWritten, checkpointWritten, committed
    }

    /// The log in the database is not what was signed.
    enum Fault: Error, CustomStringConvertible {
        case rootDiffers(size: Int64)
        case shrunk(from: Int64, to: Int64)
        case hashMissing(size: Int64)
        case badSignature

        var description: String {
            switch self {
            case .rootDiffers(let size): "the log's first \(size) entries are not those that were signed"
            case .shrunk(let old, let new): "the log has shrunk from \(old) to \(new) entries"
            case .hashMissing(let size): "the log of \(size) entries lacks a hash"
            case .badSignature: "the newest checkpoint is not signed by a key of this log"
            }
        }
    }

    static let period = Duration.milliseconds(400)

    private let database: Database
    private let keys: TrailKeys
    private let clock: any WallClock
    private let head: TrailHead
    private let log: Log
    private let reach: (Step) throws -> Void
    private var rounds = 0
    private var isStopped = false
    private var areKeysKnown = false
    /// The highest checkpoint this process has signed or seen.
    private var highest: Checkpoint?

    init(
        database: Database, keys: TrailKeys, clock: any WallClock, head: TrailHead, log: Log,
        reach: @escaping (Step) throws -> Void = { _ in }
    ) {
        self.database = database
        self.keys = keys
        self.clock = clock
        self.head = head
        self.log = log
        self.reach = reach
    }

    /// Runs rounds for as long as the loop does, or until `stop`.
    func start() {
        database.poller.spawn { [weak self] in
            var isFull = false
            do { isFull = try await self?.round() ?? false } catch { self?.tell(error) }
            guard let self, !isStopped else { return }
            // A full batch says that more are waiting.
            database.poller.schedule(at: .now() + (isFull ? .zero : Self.period)) { [weak self] in
                guard let self, !isStopped else { return }
                start()
            }
        }
    }

    func stop() { isStopped = true }

    /// One round.
    /// - Returns: whether more entries are waiting.
    func round() async throws -> Bool {
        let now = clock.now()
        if !areKeysKnown { try await publishKeys(at: now) }
        let isSweep = rounds % 100 == 0
        rounds += 1
        let outcome = try await database.transaction { transaction in
            Confined(value: try await work(transaction, now, isSweep ? .epoch : now - LogStatements.recency))
        }.value
        try reach(.committed)
        if let newest = outcome.newest { highest = newest.checkpoint }
        head.update { standing in
            if let newest = outcome.newest {
                standing.note = newest.note
                standing.checkpoint = newest.checkpoint
            }
            standing.exposedSince = outcome.oldestLeft
            standing.fault = nil
            standing.seen = now
        }
        return outcome.isFull
    }

    private struct Outcome {
        var newest: (note: String, checkpoint: Checkpoint)?
        var oldestLeft: Timestamp?
        var isFull = false
    }

    private func work(_ transaction: Transaction, _ now: Timestamp, _ since: Timestamp) async throws -> Outcome {
        let isOurs: Bool = try await transaction.query(LogStatements.takeTurn).one()["is_ours"]
        try reach(.turnTaken)
        // Whoever is not at work still learns of the newest checkpoint.
        let results = try await transaction.exchange(
            isOurs
                ? ["SET LOCAL statement_timeout = 60000", LogStatements.newestCheckpoint, LogStatements.size]
                    + [LogStatements.pending(since: since)]
                : [LogStatements.newestCheckpoint])
        let newest = try results[isOurs ? 1 : 0].first.map { row in try self.newest(try row["note"]) }
        guard isOurs else { return Outcome(newest: newest) }
        try reach(.read)

        let size: Int64 = try results[2].one()["size"]
        let leaves = try results[3].map { row in
            LogLeaf(family: try row["family_id"], number: try row["n"], entryHash: try row["hash"])
        }
        let isDue = newest.map { now - $0.checkpoint.time >= TrailHead.heartbeat } ?? true
        if let highest, size < highest.size { throw Fault.shrunk(from: highest.size, to: size) }
        if let newest, size < newest.checkpoint.size { throw Fault.shrunk(from: newest.checkpoint.size, to: size) }
        guard !leaves.isEmpty || isDue else { return Outcome(newest: newest) }
        var outcome = Outcome(isFull: leaves.count == LogStatements.batchLimit)
        outcome.newest = try await extend(transaction, size, by: leaves, after: newest?.checkpoint, at: now)
        if outcome.isFull { outcome.oldestLeft = try results[3][leaves.count - 1]["at"] }
        return outcome
    }

    private func extend(
        _ transaction: Transaction, _ size: Int64, by leaves: [LogLeaf], after last: Checkpoint?, at now: Timestamp
    ) async throws -> (note: String, checkpoint: Checkpoint) {
        let store = try NodeStore(await transaction.query(LogStatements.nodes(TreeGrowth.runs(at: size))))
        guard var growth = TreeGrowth(size: size, store) else { throw Fault.hashMissing(size: size) }
        if let last, last.size == size, last.root != growth.root { throw Fault.rootDiffers(size: size) }
        if let last, last.size < size { try await check(transaction, last) }
        var hashes: [(leaf: LogLeaf, hash: [UInt8])] = []
        var nodes: [TreeGrowth.Node] = []
        for leaf in leaves {
            let hash = leaf.hash
            hashes.append((leaf, hash))
            nodes += growth.append(hash).filter { $0.level > 0 }
        }
        if !leaves.isEmpty { _ = try await transaction.query(LogStatements.insertLeaves(hashes, from: size)) }
        try reach(.leavesWritten)
        if !nodes.isEmpty { _ = try await transaction.query(LogStatements.insertNodes(nodes)) }
        try reach(.nodesWritten)
        let checkpoint = Checkpoint(origin: keys.origin, size: growth.size, root: growth.root, time: now)
        let note = checkpoint.signed(by: keys.signing)
        _ = try await transaction.query(LogStatements.insertCheckpoint(checkpoint, note))
        try reach(.checkpointWritten)
        return (note.note, checkpoint)
    }

    /// The log may be longer than its newest checkpoint only if somebody wrote to it by hand; what was signed must still
    /// be its beginning.
    private func check(_ transaction: Transaction, _ last: Checkpoint) async throws {
        let store = try NodeStore(await transaction.query(LogStatements.nodes(NodeRun.runs(of: 0..<last.size))))
        guard store.root(of: 0..<last.size) == last.root else { throw Fault.rootDiffers(size: last.size) }
    }

    private func newest(_ text: String) throws(Fault) -> (note: String, checkpoint: Checkpoint) {
        let trusted = TrustedKeys(pinned: keys.signing.map(\.verifier))
        guard let note = SignedNote(text), let checkpoint = trusted.checkpoint(note) else { throw .badSignature }
        if let highest, checkpoint.size < highest.size { throw .shrunk(from: highest.size, to: checkpoint.size) }
        return (text, checkpoint)
    }

    private func publishKeys(at now: Timestamp) async throws {
        for (key, handover) in keys.handovers {
            _ = try await database.query(LogStatements.insertKey(key, handover, at: now))
        }
        areKeysKnown = true
    }

    private func tell(_ error: any Error) {
        guard !isStopped else { return }
        let fault = error as? Fault
        let isNew = fault?.description != head.now.fault
        if let fault { head.update { $0.fault = fault.description } }
        guard fault == nil || isNew else { return }
        log.write(fault == nil ? .warning : .error, fault == nil ? "audit_log_delayed" : "audit_log_stopped") {
            $0.field("cause", fault?.description ?? "\(error)")
        }
    }
}

extension NodeStore {
    /// Reads the rows of `LogStatements.nodes`.
    init(_ rows: Rows) throws(PostgresError) {
        self.init()
        for index in 0..<rows.count {
            let row = rows[index]
            self[try row["level"], try row["position"]] = try row["hash"] as [UInt8]
        }
    }
}
