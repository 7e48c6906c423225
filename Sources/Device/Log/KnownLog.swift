import Audit
import Domain
import DomainSQL
import LocalAI
import SQL
import SQLite

/// A device's record of its server's audit log: the largest checkpoint that it has seen, and the keys that it trusts.
public struct KnownLog: Hashable, Sendable {
    public let checkpoint: Checkpoint
    /// The signed note of the checkpoint, as evidence for others.
    public let note: String
    /// The trusted keys: the key that was pinned or came with the first checkpoint, and its successors.
    public let keys: [VerifierKey]
    /// Whether the first key did not come from the server.
    public let isPinned: Bool

    init(checkpoint: Checkpoint, note: String, keys: [VerifierKey], isPinned: Bool) {
        self.checkpoint = checkpoint
        self.note = note
        self.keys = keys
        self.isPinned = isPinned
    }

    fileprivate init(_ row: SQLiteRow) throws(SQLiteError) {
        note = try row["note"]
        let (keyLines, isPinned): (String, Bool) = (try row["keys"], try row["is_pinned"])
        guard let checkpoint = SignedNote(note).flatMap({ Checkpoint(text: $0.text) }) else {
            throw .unexpectedShape("the log's checkpoint")
        }
        self.checkpoint = checkpoint
        self.isPinned = isPinned
        keys = keyLines.split(separator: "\n").compactMap { VerifierKey(String($0)) }
    }
}

extension EventCache {
    /// Returns the log that this device follows; nil before the first checkpoint.
    public func knownLog() throws(SQLiteError) -> KnownLog? {
        try database.first("SELECT note, keys, is_pinned FROM log") { row throws(SQLiteError) in try KnownLog(row) }
    }

    /// Stores a checkpoint, unless another process has stored a larger one in the meantime.
    func storeUnlessSmaller(_ log: KnownLog) throws(SQLiteError) {
        try database.run(
            """
            INSERT INTO log (origin, size, note, keys, is_pinned)
            VALUES (\(log.checkpoint.origin), \(log.checkpoint.size), \(log.note),
                    \(log.keys.map(\.text).joined(separator: "\n")), \(log.isPinned))
            ON CONFLICT DO UPDATE SET size = excluded.size, note = excluded.note, keys = excluded.keys
                WHERE excluded.size >= log.size
            """)
    }
}
