import Contract
import Domain
import DomainSQL
import JSON
import LocalAI
import SQL
import SQLite

/// The queue of acts that were done on this device and not uploaded yet.
///
/// The outbox has a file of its own, which is synced to disk with every act: unlike the cache, it cannot be fetched
/// again. An item is kept until the server has answered it. If the process dies during an upload, the item is uploaded
/// again, and the server applies it once. Items that were not applied are kept until the person dismisses them. A
/// person's words are sealed. An item that was sealed with a lost key cannot be read: it stays, and counts as
/// unreadable.
public final class Outbox {
    private let database: SQLiteDatabase
    private let seal: TextSeal

    static let migrations = [
        """
        CREATE TABLE items (
            position  INTEGER PRIMARY KEY AUTOINCREMENT,
            client_id BLOB NOT NULL UNIQUE,
            family_id BLOB NOT NULL,
            nag_id    BLOB NOT NULL,
            kind      TEXT NOT NULL,
            -- As it is sent.
            item      TEXT NOT NULL,
            -- What the server said, where it was not what was asked for; null while it has not said anything.
            outcome   TEXT,
            code      TEXT,
            message   TEXT
        ) STRICT;
        CREATE INDEX waiting ON items (family_id, position) WHERE outcome IS NULL;
        """,
        """
        -- Items and messages are sealed from now on; the columns of text are empty, and null.
        ALTER TABLE items ADD COLUMN sealed_item BLOB;
        ALTER TABLE items ADD COLUMN sealed_message BLOB;
        """,
    ]

    /// Opens the outbox, and creates it if there is none.
    /// - Parameter seal: the seal for a person's words.
    /// - Throws: `SQLiteError`. A damaged outbox is left unchanged, because its content exists nowhere else.
    public init(path: String, seal: TextSeal) throws {
        self.seal = seal
        database = try SQLiteDatabase(path: path, durability: .powerCut)
        try database.enableSecureDelete()
        try database.migrate(Self.migrations)
        try sealPlainItems()
    }

    /// Seals the items that an earlier version of the program stored unsealed, and rewrites the file, so that it no
    /// longer contains them unsealed.
    private func sealPlainItems() throws {
        let plainItems = try database.rows("SELECT client_id, item, message FROM items WHERE sealed_item IS NULL") {
            row throws(SQLiteError) in
            (try row["client_id"] as InputID, try row["item"] as String, try row["message"] as String?)
        }
        guard !plainItems.isEmpty else { return }
        try database.transaction {
            for (id, item, message) in plainItems {
                try database.run(
                    """
                    UPDATE items SET item = '', message = NULL, sealed_item = \(seal.seal(item, .outboxItem, id)),
                        sealed_message = \(seal.sealIfPresent(message, .outboxMessage, id)) WHERE client_id = \(id)
                    """)
            }
        }
        try database.vacuum()
    }

    /// Appends an act. It is on disk when this method returns. A new nag has no ID yet, so the column `nag_id` has the
    /// item's ID.
    public func add(_ item: OutboxItem, of family: FamilyID) throws(SQLiteError) {
        try database.run(
            """
            INSERT INTO items (client_id, family_id, nag_id, kind, item, sealed_item)
            VALUES (\(item.clientID), \(family), \(item.nagID ?? item.clientID.retyped()), \(item.act.kind.rawValue), '',
                    \(seal.seal(String(decoding: item.jsonBytes, as: UTF8.self), .outboxItem, item.clientID)))
            """)
    }

    /// Returns the oldest items to upload, without those that cannot be read.
    public func waitingItems(of family: FamilyID, limit: Int = OutboxUpload.maxItemCount) throws -> [OutboxItem] {
        var items: [OutboxItem] = []
        _ = try database.rows(
            """
            SELECT client_id, sealed_item FROM items WHERE family_id = \(family) AND outcome IS NULL ORDER BY position
            """
        ) { row throws(SQLiteError) in
            if items.count < limit, let item = try parseItem(row) { items.append(item) }
        }
        return items
    }

    /// Returns the number of items that cannot be read, in all families, also of those that the server did not apply.
    public func totalUnreadableCount() throws(SQLiteError) -> Int {
        try database.rows("SELECT client_id, sealed_item FROM items") { row throws(SQLiteError) in try parseItem(row) }
            .count { $0 == nil }
    }

    /// Returns the number of items to upload, in all families, also of those that cannot be read.
    public func totalWaitingCount() throws(SQLiteError) -> Int {
        try database.first("SELECT count(*) FROM items WHERE outcome IS NULL") { row throws(SQLiteError) in
            Int(row.integerOrZero(0))
        } ?? 0
    }

    /// Returns the nags whose completion on this device is not uploaded yet.
    public func waitingCompletions(in family: FamilyID) throws(SQLiteError) -> Set<NagID> {
        Set(
            try database.rows(
                "SELECT nag_id FROM items WHERE family_id = \(family) AND kind = 'status' AND outcome IS NULL"
            ) { row throws(SQLiteError) in try row["nag_id"] as NagID })
    }

    /// Records the server's answers: refused and conflicting items are kept for the person, others are deleted.
    public func record(_ results: [InputResult]) throws {
        try database.transaction {
            for result in results {
                switch result.outcome {
                case .applied, .alreadyDone, .drafted:
                    try database.run("DELETE FROM items WHERE client_id = \(result.clientID)")
                case .conflict, .refused:
                    try database.run(
                        """
                        UPDATE items SET outcome = \(result.outcome.rawValue), code = \(result.error?.code.rawValue),
                            sealed_message = \(seal.sealIfPresent(result.error?.message, .outboxMessage, result.clientID))
                        WHERE client_id = \(result.clientID)
                        """)
                }
            }
        }
    }

    /// Returns the items that the server did not apply and the person has not dismissed, without those that cannot be
    /// read.
    public func unappliedItems() throws -> [UnappliedInput] {
        try database.rows(
            """
            SELECT client_id, sealed_item, outcome, code, sealed_message FROM items WHERE outcome IS NOT NULL
            ORDER BY position
            """
        ) { row throws(SQLiteError) in
            guard let item = try parseItem(row) else { return nil as UnappliedInput? }
            let sealedMessage: [UInt8]? = try row["sealed_message"]
            return UnappliedInput(
                item: item, isConflict: try row["outcome"] == InputOutcome.conflict.rawValue, code: try row["code"],
                message: try? seal.openIfPresent(sealedMessage, .outboxMessage, item.clientID))
        }.compactMap(\.self)
    }

    /// Dismisses the items that were not applied.
    /// - Returns: the number of dismissed items.
    @discardableResult
    public func dismissUnappliedItems() throws(SQLiteError) -> Int {
        try database.run("DELETE FROM items WHERE outcome IS NOT NULL")
    }

    /// Opens and parses the item of a row; nil if another key has sealed it, or it cannot be parsed.
    private func parseItem(_ row: SQLiteRow) throws(SQLiteError) -> OutboxItem? {
        let (id, sealedItem): (InputID, [UInt8]) = (try row["client_id"], try row["sealed_item"])
        guard let text = try? seal.open(sealedItem, .outboxItem, id),
            let json = try? JSONValue(parsing: Array(text.utf8).span)
        else { return nil }
        return try? OutboxItem(json: json)
    }
}

/// An item that the server did not apply.
public struct UnappliedInput: Hashable, Sendable {
    public let item: OutboxItem
    /// Whether the nag had ended in another way. Otherwise the rules did not allow the act.
    public let isConflict: Bool
    /// The code of the server's refusal; nil if it gave none.
    public let code: String?
    /// The message of the server's refusal, for the person; nil if it gave none.
    public let message: String?
}
