import Contract
import Domain
import DomainSQL
import Foundation
import SQL
import SQLite

/// A device's copy of its families: rows of the feed, facts about members, and positions in the feeds.
///
/// The server has all rows, so a damaged file, or one that another key has sealed, is moved aside and replaced by a new
/// one. The file of a newer program is left unchanged. People's words are sealed. A cache MUST NOT be used by several
/// threads, but several processes may use one file.
public final class EventCache {
    /// The time for which closed nags are kept, unless they were missed.
    public static let closedNagRetention = Timestamp.Span.days(30)
    /// The time for which events of the feed and missed nags are kept.
    public static let eventRetention = Timestamp.Span.days(90)
    /// The maximum age of a copy that is used for answers.
    public static let staleAfter = Timestamp.Span.hours(24)

    package let database: SQLiteDatabase
    let seal: TextSeal
    /// Whether the file was damaged, or another key had sealed it, so that an empty file replaced it.
    public let wasRebuilt: Bool

    /// Opens the cache, and creates it if there is none.
    /// - Parameters:
    ///   - seal: the seal for people's words.
    ///   - checksPages: whether to check every page for damage first. Otherwise a damaged page is found when it is
    ///     read.
    /// - Throws: `SQLiteError.newerSchema`, without changing the file; or `inaccessible`, `full`, `busy`.
    public init(path: String, seal: TextSeal, checksPages: Bool = false) throws {
        self.seal = seal
        do {
            database = try Self.open(path, seal, checksPages)
            wasRebuilt = false
        } catch SQLiteError.corrupt {
            try Self.moveAside(path)
            database = try Self.open(path, seal, false, isRebuilt: true)
            wasRebuilt = true
        }
    }

    private static func open(
        _ path: String, _ seal: TextSeal, _ checksPages: Bool, isRebuilt: Bool = false
    ) throws -> SQLiteDatabase {
        let database = try SQLiteDatabase(path: path)
        if checksPages, !database.passesQuickCheck() { throw SQLiteError.corrupt }
        try database.enableSecureDelete()
        try database.migrate(CacheSchema.migrations)
        try checkOrCreateSeal(database, seal, path, isRebuilt)
        return database
    }

    /// Checks that the file was sealed with this key.
    ///
    /// A file without a sealed check text is new, or is from a program that did not seal. It is rewritten, and gets a
    /// check text. A damaged file that was moved aside by an earlier process is deleted.
    /// - Throws: `corrupt` for a file that another key has sealed.
    private static func checkOrCreateSeal(
        _ database: SQLiteDatabase, _ seal: TextSeal, _ path: String, _ isRebuilt: Bool
    ) throws {
        let row = FamilyID(high: 0, low: 0)
        func box() throws(SQLiteError) -> [UInt8]? {
            try database.first("SELECT box FROM seal") { row throws(SQLiteError) in try row["box"] }
        }
        if try box() == nil {
            try database.vacuum()
            if !isRebuilt { try? FileManager.default.removeItem(atPath: path + ".damaged") }
            try database.run(
                "INSERT INTO seal (box) SELECT \(seal.seal("nagz", .check, row)) WHERE NOT EXISTS (SELECT 1 FROM seal)")
        }
        _ = try seal.openIfPresent(try box(), .check, row)
    }

    /// Moves a damaged cache to the path with `.damaged` at its end, and deletes one that was moved there earlier.
    public static func moveAside(_ path: String) throws {
        let files = FileManager.default
        for suffix in ["-wal", "-shm"] { try? files.removeItem(atPath: path + suffix) }
        try? files.removeItem(atPath: path + ".damaged")
        try files.moveItem(atPath: path, toPath: path + ".damaged")
    }

    /// Deletes a cache, the files that SQLite keeps beside it, and a damaged one that was moved aside.
    public static func remove(_ path: String) throws {
        for suffix in ["", "-wal", "-shm", ".damaged"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    // MARK: Content

    /// Returns the state of one family's copy; nil if the cache has nothing of the family. A family that was never
    /// synced has a state if a record of its history is stored.
    public func cachedFamily(_ family: FamilyID) throws(SQLiteError) -> CachedFamily? {
        try database.first(
            """
            SELECT key, cursor, since, synced_at, generation, is_refetching, clock_ahead, time_zone, max_push_back,
                   cooldown_minutes, allows_mediation
            FROM families WHERE id = \(family)
            """
        ) { row throws(SQLiteError) in try CachedFamily(row) }
    }

    /// Returns the number of rows of each kind, in all families.
    public func counts() throws(SQLiteError) -> CacheCounts {
        guard
            let counts = try database.first(
                """
                SELECT (SELECT count(*) FROM nags) AS nags, (SELECT count(*) FROM nag_events) AS events,
                       (SELECT count(*) FROM mediations) AS mediations, (SELECT count(*) FROM gamification) AS points,
                       (SELECT count(*) FROM members) AS members
                """,
                { row throws(SQLiteError) in
                    CacheCounts(
                        nags: try row["nags"], nagEvents: try row["events"], mediations: try row["mediations"],
                        gamificationEvents: try row["points"], members: try row["members"])
                })
        else { throw .unexpectedShape("counts") }
        return counts
    }

    /// Returns the number of bytes that the file uses.
    public func usedBytes() throws(SQLiteError) -> Int { try database.usedBytes() }

    /// Returns a family's nags: open ones first, by due time, then closed ones, with the latest due time first.
    public func nags(of family: FamilyID, includingClosed: Bool = false) throws(SQLiteError) -> [CachedNag] {
        try database.rows(
            """
            SELECT n.id, n.creator_id, n.recipient_id, m.display_name, n.due_at, n.category, n.done_definition,
                   n.description, n.status, n.created_at, n.opens_at
            FROM families f JOIN nags n ON n.family = f.key
            LEFT JOIN members m ON m.family = n.family AND m.user_id = n.recipient_id
            WHERE f.id = \(family) AND (\(includingClosed) OR n.status = 'open')
            ORDER BY n.status <> 'open', CASE n.status WHEN 'open' THEN n.due_at ELSE -n.due_at END, n.id
            """
        ) { row throws(SQLiteError) in try CachedNag(row, seal) }
    }

    /// Returns one nag; nil if the cache does not have it.
    public func nag(_ id: NagID, of family: FamilyID) throws(SQLiteError) -> CachedNag? {
        try database.first(
            """
            SELECT n.id, n.creator_id, n.recipient_id, m.display_name, n.due_at, n.category, n.done_definition,
                   n.description, n.status, n.created_at, n.opens_at
            FROM families f JOIN nags n ON n.family = f.key AND n.id = \(id)
            LEFT JOIN members m ON m.family = n.family AND m.user_id = n.recipient_id
            WHERE f.id = \(family)
            """
        ) { row throws(SQLiteError) in try CachedNag(row, seal) }
    }

    /// Deletes all rows of a family, for a person who no longer belongs to it.
    public func remove(_ family: FamilyID) throws {
        try database.transaction {
            try database.run("DELETE FROM families WHERE id = \(family)")
            try database.deleteUnusedWords()
        }
    }
}

/// The state of a family's copy.
public struct CachedFamily: Sendable {
    /// The key of the family in the table `families`.
    let key: Int64
    /// The position for the next request by cursor; nil for the beginning.
    public let cursor: String?
    /// The position for the next request by `server_time`; nil for the beginning.
    public let since: Timestamp?
    /// The time at which the feed was last read to its end; nil before the first time.
    public let syncedAt: Timestamp?
    /// The number of full resyncs that have begun. Rows with a lower number are from before the latest one.
    let generation: Int
    /// Whether a full resync has begun and has not ended.
    public let isRefetching: Bool
    /// The time by which the device's clock is ahead of the server's; nil if unknown.
    public let clockAhead: Timestamp.Span?
    /// The IANA name of the family's time zone; nil before the first facts were stored.
    let timeZone: String?
    /// The family's policy, of which only the limits of push-backs are known; the other values are the standard ones.
    /// Before the first facts were stored, all values are.
    let pushBackPolicy: FamilyPolicy
    /// Whether the consent `ai_mediation` is in force for this device's person; nil if unknown.
    public let allowsMediation: Bool?

    init(_ row: SQLiteRow) throws(SQLiteError) {
        key = try row["key"]
        cursor = try row["cursor"]
        since = try row["since"]
        syncedAt = try row["synced_at"]
        generation = try row["generation"]
        isRefetching = try row["is_refetching"]
        let microsecondsAhead: Int64? = try row["clock_ahead"]
        clockAhead = microsecondsAhead.map { Timestamp.Span(microseconds: $0) }
        timeZone = try row["time_zone"]
        allowsMediation = try row["allows_mediation"]
        let (maxPushBack, cooldown): (Int?, Int?) = (try row["max_push_back"], try row["cooldown_minutes"])
        pushBackPolicy =
            (try? FamilyPolicy(maxPushBacksPerNag: maxPushBack, pushBackCooldownMinutes: cooldown)) ?? .standard
    }

    /// Returns the copy's age; nil before the first complete sync.
    public func age(at now: Timestamp) -> Timestamp.Span? { syncedAt.map { now - $0 } }

    /// Returns whether answers may use the copy: a complete sync is at most 24 hours old. If the clock was set back,
    /// the sync may be at most a minute in the future.
    public func isFresh(at now: Timestamp) -> Bool {
        guard let age = age(at: now) else { return false }
        return age >= .seconds(-60) && age <= EventCache.staleAfter
    }
}

/// The numbers of rows in a cache, by kind.
public struct CacheCounts: Hashable, Sendable {
    public let nags: Int
    public let nagEvents: Int
    public let mediations: Int
    /// The number of events of points and streaks.
    public let gamificationEvents: Int
    public let members: Int

    /// The number of rows of the feed.
    public var feedRows: Int { nags + nagEvents + mediations + gamificationEvents }
}

/// A nag in the cache.
public struct CachedNag: Hashable, Sendable {
    public let id: NagID
    public let creatorID: UserID
    public let recipientID: UserID
    /// The name that members see; nil if the recipient has none, or if this device has no facts about them.
    public let recipientName: String?
    public let dueAt: Timestamp
    /// The raw value of a `NagCategory`.
    public let category: String
    /// The raw value of a `DoneDefinition`.
    public let doneDefinition: String
    public let description: String?
    /// The raw value of a `NagStatus`.
    public let status: String
    public let createdAt: Timestamp
    /// The time from which the instance of a series can be completed; nil for other nags.
    public let opensAt: Timestamp?

    init(_ row: SQLiteRow, _ seal: TextSeal) throws(SQLiteError) {
        id = try row["id"]
        creatorID = try row["creator_id"]
        recipientID = try row["recipient_id"]
        recipientName = try seal.openIfPresent(try row["display_name"], .memberName, recipientID)
        dueAt = try row["due_at"]
        category = try row["category"]
        doneDefinition = try row["done_definition"]
        description = try seal.openIfPresent(try row["description"], .nagDescription, id)
        status = try row["status"]
        createdAt = try row["created_at"]
        opensAt = try row["opens_at"]
    }
}
