import Contract
import Domain
import DomainSQL
import SQL
import SQLite

/// The position in a feed from which a page was requested: a cursor, or the time that the public clients send.
public enum FeedPosition: Hashable, Sendable {
    /// The position after a cursor; nil for the beginning.
    case cursor(String?)
    /// The position of the first row at or after a `server_time`; nil for the beginning.
    case since(Timestamp?)
}

extension EventCache {
    /// Stores a page: its rows, its facts and the next position, in one transaction. If the process dies, either the
    /// whole page is stored or nothing of it, and the stored position is right for the next request.
    ///
    /// When a page announces a full resync, or was requested by cursor from the beginning, older rows are kept until
    /// the last page of the resync is stored. Then the rows that were not sent again are deleted. A row may be sent
    /// more than once: rows are stored by ID.
    /// - Parameter clockAhead: the time by which this device's clock is ahead of the server's; nil if the answer had no
    ///   date, which keeps the stored value.
    /// - Returns: false if another process has moved the cache to a different position; nothing is changed then.
    public func apply(
        _ page: SyncResponse, of family: FamilyID, requestedFrom position: FeedPosition, at now: Timestamp,
        clockAhead: Timestamp.Span? = nil
    ) throws -> Bool {
        try database.transaction {
            try database.run("INSERT INTO families (id) VALUES (\(family)) ON CONFLICT DO NOTHING")
            guard let cachedFamily = try cachedFamily(family) else { throw SQLiteError.unexpectedShape("a family") }
            guard cachedFamily.isAt(position) else { return false }
            let startsRefetch = page.mustRefetch || position == .cursor(nil)
            let generation = cachedFamily.generation + (startsRefetch ? 1 : 0)
            var writer = RowWriter(
                database: database, seal: seal, family: cachedFamily.key, generation: generation, now: now)
            try writer.write(page)
            let isRefetching = startsRefetch || cachedFamily.isRefetching
            if let facts = page.facts {
                if !facts.allowsMediation { _ = try markConsentWithdrawn(of: family) }
                try writer.replaceFacts(with: facts)
            }
            if !page.hasMore {
                if isRefetching { try writer.deleteOlderGenerations() }
                try database.run("UPDATE families SET synced_at = \(now) WHERE key = \(cachedFamily.key)")
                try writer.pruneIfDue()
            }
            try database.run(
                """
                UPDATE families SET cursor = \(page.cursor), since = \(page.serverTime.flooredToSecond),
                    generation = \(generation), is_refetching = \(isRefetching && page.hasMore),
                    clock_ahead = coalesce(\(clockAhead?.microseconds), clock_ahead)
                WHERE key = \(cachedFamily.key)
                """)
            return true
        }
    }
}

extension CachedFamily {
    fileprivate func isAt(_ position: FeedPosition) -> Bool {
        switch position {
        case .cursor(let cursor): cursor == self.cursor
        case .since(let since): since == self.since
        }
    }
}

/// Writes the rows of one family within a transaction.
private struct RowWriter {
    let database: SQLiteDatabase
    let seal: TextSeal
    /// The key of the family in the table `families`.
    let family: Int64
    let generation: Int
    let now: Timestamp
    /// The keys of texts in the table `words`, as far as this page has needed them.
    private var keysOfTexts: [String: Int64] = [:]
    /// The keys of people in the table `words`, as far as this page has needed them.
    private var keysOfPeople: [UserID: Int64] = [:]

    init(database: SQLiteDatabase, seal: TextSeal, family: Int64, generation: Int, now: Timestamp) {
        self.database = database
        self.seal = seal
        self.family = family
        self.generation = generation
        self.now = now
    }

    /// The fields of a payload that are stored. The other fields may contain a person's words, and nothing on the
    /// device reads them.
    private static let storedPayloadFields: Set = [
        "category", "committed_at", "due_at", "from", "parent_nag_id", "phase", "punctuality",
    ]
    private static let closingEventTypes: Set = ["nag_completed", "nag_missed", "nag_withdrawn", "nag_cancelled"]

    /// Returns the key of a text in the table `words`, and inserts the text if it is missing.
    private mutating func intern(_ text: String) throws(SQLiteError) -> Int64 {
        if let knownKey = keysOfTexts[text] { return knownKey }
        let key = try findOrInsertKey(of: text)
        keysOfTexts[text] = key
        return key
    }

    /// Returns the key of a person in the table `words`, and inserts the person if they are missing.
    private mutating func intern(_ user: UserID) throws(SQLiteError) -> Int64 {
        if let knownKey = keysOfPeople[user] { return knownKey }
        let key = try findOrInsertKey(of: user)
        keysOfPeople[user] = key
        return key
    }

    /// Returns the key of a value in the table `words`, and inserts the value if it is missing.
    private func findOrInsertKey(of value: some SQLBindable) throws(SQLiteError) -> Int64 {
        try database.run("INSERT INTO words (value) VALUES (\(value)) ON CONFLICT DO NOTHING")
        let key = try database.first("SELECT key FROM words WHERE value = \(value)") { row throws(SQLiteError) in
            row.integerOrZero(0)
        }
        guard let key else { throw .unexpectedShape("a word") }
        return key
    }

    mutating func write(_ page: SyncResponse) throws(SQLiteError) {
        for nag in page.nags { try write(nag) }
        for event in page.nagEvents { try write(event) }
        let nagsWithClosingEvent = Set(
            page.nagEvents.filter { Self.closingEventTypes.contains($0.eventType) }.map(\.nagID))
        if page.nags.contains(where: { $0.status != NagStatus.open.rawValue && !nagsWithClosingEvent.contains($0.id) })
        {
            try setClosingTimesFromEarlierPages()
        }
        for event in page.aiMediationEvents {
            try database.run(
                """
                INSERT INTO mediations (family, id, nag_id, prompt_type, tone, at, generation)
                VALUES (\(family), \(event.id), \(event.nagID), \(try intern(event.promptType)), \(try intern(event.tone)),
                        \(event.at), \(generation))
                ON CONFLICT DO UPDATE SET generation = excluded.generation
                """)
        }
        for event in page.gamificationEvents {
            try database.run(
                """
                INSERT INTO gamification (family, id, user, type, delta_points, streak_delta, at, generation)
                VALUES (\(family), \(event.id), \(try intern(event.userID)), \(try intern(event.eventType)), \(event.deltaPoints),
                        \(event.streakDelta), \(event.at), \(generation))
                ON CONFLICT DO UPDATE SET generation = excluded.generation
                """)
        }
        for entity in page.deleted { try delete(entity) }
    }

    private func write(_ nag: SyncedNag) throws(SQLiteError) {
        let isOpen = nag.status == NagStatus.open.rawValue
        try database.run(
            """
            INSERT INTO nags (family, id, creator_id, recipient_id, due_at, category, done_definition, description, status,
                              created_at, committed_at, opens_at, closed_at, generation)
            VALUES (\(family), \(nag.id), \(nag.creatorID), \(nag.recipientID), \(nag.dueAt), \(nag.category),
                    \(nag.doneDefinition), \(seal.sealIfPresent(nag.description, .nagDescription, nag.id)), \(nag.status), \(nag.createdAt), \(nag.committedAt), \(nag.opensAt),
                    \(isOpen ? nil : now), \(generation))
            ON CONFLICT DO UPDATE SET due_at = excluded.due_at, category = excluded.category,
                done_definition = excluded.done_definition, description = excluded.description,
                status = excluded.status, committed_at = excluded.committed_at, opens_at = excluded.opens_at,
                closed_at = CASE WHEN excluded.closed_at IS NULL THEN NULL ELSE coalesce(closed_at, excluded.closed_at) END,
                generation = excluded.generation
            """)
    }

    /// Sets the closing time of each nag of this page whose closing event was in an earlier page. If a nag changes
    /// after its end, for example because it is dismissed, its row is sent again in a later page than its closing
    /// event.
    private func setClosingTimesFromEarlierPages() throws(SQLiteError) {
        try database.run(
            """
            UPDATE nags SET closed_at = e.at FROM nag_events e
            WHERE e.family = \(family) AND e.nag_id = nags.id AND nags.family = \(family) AND nags.closed_at = \(now)
                AND e.type IN (SELECT key FROM words
                    WHERE value IN ('nag_completed', 'nag_missed', 'nag_withdrawn', 'nag_cancelled'))
            """)
    }

    private mutating func write(_ event: SyncedNagEvent) throws(SQLiteError) {
        var payload = event.payload
        var recipient: Int64?
        if let user = payload["recipient_id"].flatMap({ UserID($0) }) {
            recipient = try intern(user)
            payload["recipient_id"] = nil
        }
        payload = payload.filter { Self.storedPayloadFields.contains($0.key) }
        let text = String(decoding: payload.jsonBytes, as: UTF8.self)
        let codesKey = payload.values.allSatisfy(\.isCode) ? try intern(text) : nil
        try database.run(
            """
            INSERT INTO nag_events (family, id, nag_id, type, actor, recipient, at, codes, payload, generation)
            VALUES (\(family), \(event.id), \(event.nagID), \(try intern(event.eventType)), \(try intern(event.actorID)), \(recipient),
                    \(event.at), \(codesKey), \(codesKey == nil ? text : nil), \(generation))
            ON CONFLICT DO UPDATE SET generation = excluded.generation
            """)
        if Self.closingEventTypes.contains(event.eventType) {
            try database.run(
                """
                UPDATE nags SET closed_at = \(event.at)
                WHERE family = \(family) AND id = \(event.nagID) AND status <> 'open'
                """)
        }
    }

    /// Deletes a row that the server has deleted; a row of an unknown kind is ignored.
    private func delete(_ entity: DeletedEntity) throws(SQLiteError) {
        switch entity.entity {
        case "nags": try database.run("DELETE FROM nags WHERE family = \(family) AND id = \(entity.id)")
        case "nag_events": try database.run("DELETE FROM nag_events WHERE family = \(family) AND id = \(entity.id)")
        case "ai_mediation_events":
            try database.run("DELETE FROM mediations WHERE family = \(family) AND id = \(entity.id)")
        case "gamification_events":
            try database.run("DELETE FROM gamification WHERE family = \(family) AND id = \(entity.id)")
        default: break
        }
    }

    /// Replaces the stored facts, and deletes the rows that the person may no longer see.
    func replaceFacts(with facts: FamilyFacts) throws(SQLiteError) {
        let choices = String(decoding: facts.choices.jsonBytes, as: UTF8.self)
        try database.run(
            """
            UPDATE families SET time_zone = \(facts.timeZone), max_push_back = \(facts.maxPushBack),
                cooldown_minutes = \(facts.cooldownMinutes), allows_mediation = \(facts.allowsMediation),
                choices = \(choices)
            WHERE key = \(family)
            """)
        try database.run("DELETE FROM members WHERE family = \(family)")
        try database.run("DELETE FROM resolved WHERE family = \(family)")
        try database.run("DELETE FROM push_backs WHERE family = \(family)")
        for member in facts.members {
            try database.run(
                """
                INSERT INTO members (family, user_id, display_name, role, status, time_zone, quiet_start, quiet_end,
                                     push_back_mode, tone, allows_on_device, streak)
                VALUES (\(family), \(member.userID), \(seal.sealIfPresent(member.displayName, .memberName, member.userID)), \(member.role), \(member.status),
                        \(member.timeZone), \(member.quietHours?.start), \(member.quietHours?.end),
                        \(member.pushBackMode), \(member.tone), \(member.allowsOnDeviceAI), \(member.streak))
                """)
            for count in member.resolvedCounts {
                try database.run(
                    """
                    INSERT INTO resolved (family, user_id, category, total, completed)
                    VALUES (\(family), \(member.userID), \(count.category), \(count.total), \(count.completed))
                    """)
            }
            for nag in member.openNagPushBacks { try write(nag) }
        }
        try database.run("DELETE FROM constraints WHERE family = \(family)")
        for constraint in facts.constraints {
            let terms = String(decoding: constraint.terms.jsonBytes, as: UTF8.self)
            try database.run(
                """
                INSERT INTO constraints (family, id, terms)
                VALUES (\(family), \(constraint.id), \(seal.seal(terms, .constraintTerms, constraint.id)))
                """)
        }
        if !facts.allowsMediation { try database.run("DELETE FROM mediations WHERE family = \(family)") }
        // Nags that the person may no longer see are deleted from their device.
        if let reader = facts.nonGuardianReader { try deleteNags(notOf: reader) }
    }

    private func write(_ pushBacks: NagPushBacks) throws(SQLiteError) {
        let counted = pushBacks.counted.map { ($0, true) }
        for (at, counts) in counted + (pushBacks.earlier.map { [($0, false)] } ?? []) {
            try database.run(
                """
                INSERT INTO push_backs (family, nag_id, at, counts)
                VALUES (\(family), \(pushBacks.nagID), \(at), \(counts)) ON CONFLICT DO NOTHING
                """)
        }
    }

    /// Deletes the nags that the reader neither created nor received, with their events, and all mediations of nags that
    /// the cache does not hold.
    private func deleteNags(notOf reader: UserID) throws(SQLiteError) {
        try database.run(
            """
            DELETE FROM nag_events WHERE family = \(family) AND nag_id IN (
                SELECT id FROM nags WHERE family = \(family) AND creator_id <> \(reader) AND recipient_id <> \(reader))
            """)
        try database.run(
            "DELETE FROM nags WHERE family = \(family) AND creator_id <> \(reader) AND recipient_id <> \(reader)")
        // Older servers sent mediation of nags that the reader may not read.
        try database.run(
            """
            DELETE FROM mediations WHERE family = \(family) AND nag_id <> \(NagID(high: 0, low: 0))
                AND nag_id NOT IN (SELECT id FROM nags WHERE family = \(family))
            """)
    }

    func deleteOlderGenerations() throws(SQLiteError) {
        try database.run("DELETE FROM nags WHERE family = \(family) AND generation < \(generation)")
        try database.run("DELETE FROM nag_events WHERE family = \(family) AND generation < \(generation)")
        try database.run("DELETE FROM mediations WHERE family = \(family) AND generation < \(generation)")
        try database.run("DELETE FROM gamification WHERE family = \(family) AND generation < \(generation)")
    }

    /// Deletes rows that are older than their retention, at most once a day.
    func pruneIfDue() throws(SQLiteError) {
        let lastPrunedAt: Timestamp? = try database.first("SELECT pruned_at FROM families WHERE key = \(family)") {
            row throws(SQLiteError) in try row["pruned_at"] as Timestamp?
        }.flatMap { $0 }
        if let lastPrunedAt, lastPrunedAt <= now, now - lastPrunedAt < .days(1) { return }
        let oldest = now - EventCache.eventRetention
        try database.run(
            """
            DELETE FROM nags WHERE family = \(family) AND status <> 'open'
                AND closed_at < CASE status WHEN 'missed' THEN \(oldest) ELSE \(now - EventCache.closedNagRetention) END
            """)
        try database.run("DELETE FROM nag_events WHERE family = \(family) AND at < \(oldest)")
        try database.run("DELETE FROM mediations WHERE family = \(family) AND at < \(oldest)")
        try database.run("DELETE FROM gamification WHERE family = \(family) AND at < \(oldest)")
        try database.deleteUnusedWords()
        try database.run("UPDATE families SET pruned_at = \(now) WHERE key = \(family)")
    }
}

extension SQLiteDatabase {
    /// Deletes the people and texts in the table `words` that no row names any more, except the rules' four event
    /// types.
    func deleteUnusedWords() throws(SQLiteError) {
        try run(
            """
            DELETE FROM words WHERE key IN (
                SELECT key FROM words WHERE key > 4
                EXCEPT SELECT type FROM nag_events EXCEPT SELECT actor FROM nag_events
                EXCEPT SELECT recipient FROM nag_events EXCEPT SELECT codes FROM nag_events
                EXCEPT SELECT prompt_type FROM mediations EXCEPT SELECT tone FROM mediations
                EXCEPT SELECT user FROM gamification EXCEPT SELECT type FROM gamification)
            """)
    }
}

extension String {
    /// Whether the text has the form of a code, rather than of a person's words, a number, a time or an ID.
    fileprivate var isCode: Bool {
        utf8.count <= 32 && utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == UInt8(ascii: "_") }
    }
}

extension FamilyFacts {
    /// The person whose device this is, if they are not a guardian; nil for a guardian.
    fileprivate var nonGuardianReader: UserID? {
        guard members.count == 1, let member = members.first, member.role != .guardian else { return nil }
        return member.userID
    }
}
