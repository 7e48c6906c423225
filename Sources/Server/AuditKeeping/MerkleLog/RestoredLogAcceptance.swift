import Audit
import Contract
import Domain
import Postgres
import Reactor

/// An operator's decision to continue the audit log in the database although it does not extend the last checkpoint
/// that an instance remembers, after a backup was restored. The remembered checkpoint is kept in the entry
/// `log.accepted`, and in a file beside the checkpoint file.
public struct RestoredLogAcceptance: Sendable {
    /// The head of the log that an instance remembers, and the head of the database's log.
    public struct Heads: Sendable {
        /// The remembered checkpoint; nil where none is remembered.
        public let remembered: Checkpoint?
        /// The database's head; its time has no meaning.
        let storedHead: Checkpoint
        /// The number of entries in the database's log.
        public var storedSize: Int64 { storedHead.size }
        /// The root hash of the database's log.
        public var storedRoot: [UInt8] { storedHead.root }
        /// Whether the database's log is signed in its present state and extends the remembered checkpoint. An empty
        /// log needs no signature.
        public let isContinuation: Bool
    }

    /// A reason for which the log was not accepted.
    public enum Fault: Error, CustomStringConvertible {
        /// The root that the operator named is neither the log's root nor that of one of its signed checkpoints.
        case otherRoot
        case hashMissing
        /// A checkpoint in the database covers `size` entries, more than the `of` entries that the log has.
        case checkpointAhead(size: Int64, of: Int64)

        public var description: String {
            switch self {
            case .otherRoot: "the log in the database has another root: nagz audit accept shows it"
            case .hashMissing: "the log in the database lacks a hash: restore a backup"
            case .checkpointAhead(let size, let leaves):
                "the database holds a checkpoint of \(size) entries over a log of \(leaves): restore a backup"
            }
        }
    }

    private let databaseURL: String
    private let keys: AuditKeyring
    private let file: CheckpointFile

    public init(databaseURL: String, keys: AuditKeyring, file: CheckpointFile) {
        self.databaseURL = databaseURL
        self.keys = keys
        self.file = file
    }

    /// Reads both heads; changes nothing.
    public func readHeads() async throws -> Heads {
        let remembered = try file.read()?.checkpoint
        let keys = keys
        return try await Schema.withDatabase(databaseURL) { database in
            try await database.transaction { transaction in
                LoopBound(value: try await Self.readHeads(transaction, remembered, keys))
            }.value
        }
    }

    /// Signs the log as it is in the database, in one transaction with the entry `log.accepted`, and then writes the
    /// new checkpoint to the file. If the process dies in between, the file is unchanged: run it again.
    /// - Parameter root: the root hash that `readHeads` returned.
    public func accept(root: [UInt8], clock: any WallClock = SystemClock()) async throws -> Heads {
        let remembered = try file.read()?.checkpoint
        let keys = keys
        let (heads, entry) = try await Schema.withDatabase(databaseURL) { database in
            let tool = AuditMaintenance(database, keys, clock: clock)
            return try await database.transaction { transaction in
                _ = try await transaction.query(LogStatements.lock)
                let heads = try await Self.readHeads(transaction, remembered, keys)
                guard try await Self.isCurrentOrEarlierRoot(root, of: heads, transaction, keys) else {
                    throw Fault.otherRoot
                }
                let newest = try await LogReader(transaction).newestUnverifiedCheckpoint()?.checkpoint
                if let newest, newest.size > heads.storedSize {
                    throw Fault.checkpointAhead(size: newest.size, of: heads.storedSize)
                }
                // Of two checkpoints of the same size the later one counts.
                let now = max(clock.now(), (newest?.time ?? .epoch) + .seconds(1))
                let act = Act(
                    kind: .merkleLogAccepted, basis: .nothing, actor: SystemActor.commandLine,
                    details: [
                        "size": String(heads.storedSize), "root": hexadecimal(heads.storedRoot),
                        "remembered_size": remembered.map { String($0.size) } ?? "none",
                        "remembered_root": remembered.map { hexadecimal($0.root) } ?? "none",
                    ], stampedRows: 0)
                try await tool.perform(act, in: .outside, tool.context(clock.now()), transaction)
                let checkpoint = Checkpoint(
                    origin: keys.origin, size: heads.storedSize, root: heads.storedRoot, time: now)
                let note = checkpoint.signed(by: keys.signingKeys)
                _ = try await transaction.query(LogStatements.insertCheckpoint(checkpoint, note))
                return LoopBound(value: (heads, CheckpointFile.Entry(note: note.fullText, checkpoint: checkpoint)))
            }.value
        }
        try file.overwrite(with: entry)
        return heads
    }

    /// Returns whether `root` is the root of the database's log, or was the root of one of its signed checkpoints:
    /// another instance may have continued the log since.
    private static func isCurrentOrEarlierRoot(
        _ root: [UInt8], of heads: Heads, _ transaction: Transaction, _ keys: AuditKeyring
    ) async throws -> Bool {
        if heads.storedRoot == root { return true }
        guard let row = try await transaction.query(LogStatements.checkpoint(base64Root: Base64.encode(root))).first,
            let checkpoint = StoredLog.trustedCheckpoint(try row["note"], keys, remembered: nil),
            checkpoint.root == root
        else { return false }
        return try await StoredLog(transaction).isConsistent(from: checkpoint, to: heads.storedHead)
    }

    /// Reads both heads. The queries MUST read one snapshot, or hold the lock for appending to the log.
    static func readHeads(
        _ queries: any Queries, _ remembered: Checkpoint?, _ keys: AuditKeyring
    ) async throws -> Heads {
        let log = StoredLog(queries)
        let frontier = try await log.readFrontier()
        let head = Checkpoint(origin: keys.origin, size: frontier.size, root: frontier.root, time: .epoch)
        var isContinuation = frontier.size == 0
        if let row = try await queries.query(LogStatements.newestCheckpoint).first {
            let newest = StoredLog.trustedCheckpoint(try row["note"], keys, remembered: remembered)
            isContinuation = newest?.size == head.size && newest?.root == head.root
        }
        if isContinuation, let remembered { isContinuation = try await log.isConsistent(from: remembered, to: head) }
        return Heads(remembered: remembered, storedHead: head, isContinuation: isContinuation)
    }
}
