import Contract
import Domain
import DomainSQL
import JSON
import SQL
import SQLite

/// Acts that were done on this device and not uploaded yet, in order.
///
/// A file of its own, synced to disk with every act: unlike the cache it cannot be fetched again. An item stays until
/// the server has answered it, so a process that dies during an upload uploads it again; the server applies each once.
/// Items that were not applied stay until somebody has seen them.
public final class Outbox {
    private let database: SQLiteDatabase

    private static let migrations = [
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
        """
    ]

    /// - Throws: `SQLiteError`; a damaged outbox is left untouched, since its content exists nowhere else.
    public init(path: String) throws {
        database = try SQLiteDatabase(path: path, durability: .powerCut)
        try database.migrate(Self.migrations)
    }

    /// Appends an act. It is on disk when this returns.
    public func add(_ item: OutboxItem, of family: FamilyID) throws(SQLiteError) {
        try database.run(
            """
            INSERT INTO items (client_id, family_id, nag_id, kind, item)
            VALUES (\(item.clientID), \(family), \(item.nagID), \(item.act.kind.rawValue),
                    \(String(decoding: item.jsonBytes, as: UTF8.self)))
            """)
    }

    /// The first items to upload.
    public func waiting(of family: FamilyID, limit: Int = OutboxUpload.largestCount) throws -> [OutboxItem] {
        try database.rows(
            """
            SELECT item FROM items WHERE family_id = \(family) AND outcome IS NULL ORDER BY position LIMIT \(limit)
            """
        ) { row throws(SQLiteError) in try Self.item(try row["item"]) }
    }

    /// The number of items to upload, over all families.
    public func waitingCount() throws(SQLiteError) -> Int {
        try database.first("SELECT count(*) FROM items WHERE outcome IS NULL") { row throws(SQLiteError) in
            Int(row.integer(0))
        } ?? 0
    }

    /// The nags that were completed here and not uploaded yet.
    public func reported(in family: FamilyID) throws(SQLiteError) -> Set<NagID> {
        Set(
            try database.rows(
                "SELECT nag_id FROM items WHERE family_id = \(family) AND kind = 'status' AND outcome IS NULL"
            ) { row throws(SQLiteError) in try row["nag_id"] as NagID })
    }

    /// Stores the server's answers: applied items are deleted, others stay to be seen.
    public func record(_ results: [InputResult]) throws {
        try database.transaction {
            for result in results {
                switch result.outcome {
                case .applied, .alreadyDone:
                    try database.run("DELETE FROM items WHERE client_id = \(result.clientID)")
                case .conflict, .refused:
                    try database.run(
                        """
                        UPDATE items SET outcome = \(result.outcome.rawValue), code = \(result.error?.code.rawValue),
                            message = \(result.error?.message) WHERE client_id = \(result.clientID)
                        """)
                }
            }
        }
    }

    /// Items that the server did not apply and nobody has dismissed yet.
    public func unapplied() throws -> [UnappliedInput] {
        try database.rows(
            "SELECT item, outcome, code, message FROM items WHERE outcome IS NOT NULL ORDER BY position"
        ) { row throws(SQLiteError) in
            UnappliedInput(
                item: try Self.item(try row["item"]), isConflict: try row["outcome"] == InputOutcome.conflict.rawValue,
                code: try row["code"], message: try row["message"])
        }
    }

    /// Dismisses the items that were not applied.
    /// - Returns: how many there were.
    @discardableResult
    public func putAwayUnapplied() throws(SQLiteError) -> Int {
        try database.run("DELETE FROM items WHERE outcome IS NOT NULL")
    }

    private static func item(_ text: String) throws(SQLiteError) -> OutboxItem {
        guard let json = try? JSONValue(parsing: Array(text.utf8).span), let item = try? OutboxItem(json: json) else {
            throw .unexpectedShape("an item of the outbox")
        }
        return item
    }
}

/// An item that the server did not apply.
public struct UnappliedInput: Hashable, Sendable {
    public let item: OutboxItem
    /// Whether the nag had ended otherwise; if not, the rules did not allow the act.
    public let isConflict: Bool
    public let code: String?
    public let message: String?
}
