import Audit
import Reactor

/// The newest checkpoint that this instance signed or saw. Used on the sequencer's loop; its file, where it has one, is
/// read and written on a thread of its own.
final class CheckpointMemory {
    private let file: CheckpointFile?
    private let pool: BlockingPool?
    /// The file's content when it was last read or written.
    private var storedEntry: CheckpointFile.Entry?
    /// A checkpoint that could not be written to the file yet.
    private var unwrittenEntry: CheckpointFile.Entry?
    /// The newest checkpoint; nil before the first.
    private(set) var newestCheckpoint: Checkpoint?

    /// - Parameters:
    ///   - file: nil keeps the checkpoint in memory only.
    ///   - pool: one thread, for the file.
    init(_ file: CheckpointFile? = nil, pool: BlockingPool? = nil) {
        self.file = file
        self.pool = pool
    }

    /// Reads the file: its content may come from this instance, from another that shares the file, or from an operator
    /// who accepted another log.
    /// - Throws: an error when an earlier checkpoint could not be written to the file, or the file cannot be read. Then
    ///   the caller MUST NOT sign anything.
    func refresh() async throws {
        guard let file else { return }
        if let entry = unwrittenEntry { try await write(entry) }
        guard let entry = try await run({ () throws(CheckpointFile.Fault) -> CheckpointFile.Entry? in try file.read() })
        else { return }
        storedEntry = entry
        newestCheckpoint = entry.checkpoint
    }

    /// Remembers a checkpoint that extends the newest.
    /// - Throws: an error when the file cannot be written; the checkpoint is in memory all the same.
    func remember(_ note: String, _ checkpoint: Checkpoint) async throws {
        newestCheckpoint = checkpoint
        guard file != nil, storedEntry?.note != note else { return }
        let entry = CheckpointFile.Entry(note: note, checkpoint: checkpoint)
        unwrittenEntry = entry
        try await write(entry)
    }

    private func write(_ entry: CheckpointFile.Entry) async throws {
        guard let file else { return }
        let old = storedEntry
        storedEntry = try await run { () throws(CheckpointFile.Fault) -> CheckpointFile.Entry in
            try file.replaceIfUnchanged(old, by: entry)
        }
        unwrittenEntry = nil
    }

    private func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(CheckpointFile.Fault) -> Value
    ) async throws -> Value {
        guard let pool else { return try body() }
        return try await pool.run { () -> Result<Value, CheckpointFile.Fault> in
            do throws(CheckpointFile.Fault) { return .success(try body()) } catch { return .failure(error) }
        }.get()
    }
}
