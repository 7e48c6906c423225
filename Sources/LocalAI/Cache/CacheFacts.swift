import Domain
import DomainSQL
import NagzAI
import SQL
import SQLite
import TimeZones

/// A reason why the cache lacks a fact.
public enum CacheMiss: Error, Hashable, Sendable {
    /// No sync of the family has reached its end yet.
    case neverSynced
    /// The cache does not have the nag.
    case nagUnknown
    /// The facts are about a person whose history this device does not have. Only guardians' devices have the history
    /// of every member.
    case historyMissing
}

/// The facts of one family, read from the event cache. The server reads the same facts from its database.
///
/// A nag whose completion is in the outbox counts as completed, because a person's acts take effect at once on their
/// own device.
public struct CacheFacts: FactSource {
    let cache: EventCache
    let family: FamilyID
    /// The nags whose completion on this device is not uploaded yet.
    let outboxCompletions: Set<NagID>
    let now: @Sendable () -> Timestamp
    /// The turns of the AI session that questions belong to.
    var session: [SessionTurn] = []
    private let zones: ZoneTable

    public init(
        _ cache: EventCache, family: FamilyID, outboxCompletions: Set<NagID> = [], zones: ZoneTable = ZoneTable(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.cache = cache
        self.family = family
        self.outboxCompletions = outboxCompletions
        self.zones = zones
        self.now = now
    }

    // MARK: FactSource

    /// - Throws: `CacheMiss`, `SQLiteError`.
    public func nagFacts(_ nagID: NagID) async throws -> Snapshot<NagFacts> {
        let (cachedFamily, now) = (try requireSyncedFamily(), now())
        var nag = try nag(nagID, cachedFamily)
        guard let member = try member(nag.recipientID, cachedFamily) else { throw CacheMiss.historyMissing }
        var facts = NagFacts(nag: nag)
        facts.missCount7d = try recentMissCount(of: nag.recipientID, cachedFamily, now)
        facts.streak = member.streak
        facts.timeConflictCount7d = try recentTimeConflictCount(of: nag.recipientID, cachedFamily, now)
        (facts.categoryRecord, facts.overallRecord) = try completionRecords(excluding: nag, cachedFamily)
        facts.recentCategoryRecord = try recentCategoryRecord(excluding: nag, cachedFamily, now)
        if outboxCompletions.contains(nagID), nag.status == .open { nag.status = .completed }
        facts.nag = nag
        (facts.cyclePushBacks, facts.earlierPushBack) = try pushBacks(nag, cachedFamily)
        facts.preferences = member.preferences
        facts.policy = cachedFamily.pushBackPolicy
        facts.sessionTurns = session
        return Snapshot(facts, now: now, zone: zones.zoneOrUTC(member.preferences.timeZone))
    }

    /// - Throws: `CacheMiss`, `SQLiteError`.
    public func patternFacts(userID: UserID, familyID: FamilyID) async throws -> Snapshot<PatternFacts> {
        guard familyID == family else { throw CacheMiss.neverSynced }
        let (cachedFamily, now) = (try requireSyncedFamily(), now())
        guard try member(userID, cachedFamily) != nil else { throw CacheMiss.historyMissing }
        let misses = try patternMisses(of: userID, cachedFamily, now)
        return Snapshot(
            PatternFacts(userID: userID, familyID: familyID, misses: misses), now: now, zone: zone(cachedFamily))
    }

    /// - Throws: `CacheMiss`, `SQLiteError`.
    public func digestFacts(familyID: FamilyID) async throws -> Snapshot<DigestFacts> {
        guard familyID == family else { throw CacheMiss.neverSynced }
        let (cachedFamily, now) = (try requireSyncedFamily(), now())
        let members = try cache.database.rows(
            "SELECT user_id, display_name, role, status FROM members WHERE family = \(cachedFamily.key)"
        ) { row throws(SQLiteError) in
            let user: UserID = try row["user_id"]
            let name = try cache.seal.openIfPresent(try row["display_name"], .memberName, user)
            return (
                member: DigestFacts.Member(userID: user, displayName: name, status: try row["status"]),
                role: try row["role"] as FamilyRole
            )
        }
        // A guardian's device has facts about every member. Another person's device has only their own.
        guard let first = members.first else { throw CacheMiss.historyMissing }
        let subject = members.contains { $0.role == .guardian } ? nil : first.member.userID
        let nags = try cache.database.rows(
            """
            SELECT id, recipient_id, status, due_at, closed_at FROM nags
            WHERE family = \(cachedFamily.key)
                AND (status = 'open' OR closed_at > \(FactWindow.recent.start(now)) AND closed_at <= \(now))
            """
        ) { row throws(SQLiteError) in
            let id: NagID = try row["id"]
            let status: NagStatus = try row["status"]
            let isInOutbox = status == .open && outboxCompletions.contains(id)
            let closedAt = isInOutbox ? now : try row["closed_at"] as Timestamp?
            return DigestFacts.Nag(
                recipientID: try row["recipient_id"], status: isInOutbox ? .completed : status,
                dueAt: try row["due_at"], closedAt: closedAt)
        }
        return Snapshot(
            DigestFacts(familyID: familyID, subject: subject, members: members.map(\.member), nags: nags), now: now,
            zone: zone(cachedFamily))
    }

    /// - Throws: `CacheMiss`, `SQLiteError`.
    public func coachFacts(of userID: UserID?, familyID: FamilyID) async throws -> Snapshot<CoachFacts> {
        guard familyID == family else { throw CacheMiss.neverSynced }
        let (cachedFamily, now) = (try requireSyncedFamily(), now())
        guard let userID, let member = try member(userID, cachedFamily) else { throw CacheMiss.historyMissing }
        let nags = try cache.database.rows(
            """
            SELECT id, category, status, due_at, closed_at FROM nags
            WHERE family = \(cachedFamily.key) AND recipient_id = \(userID)
                AND (status = 'open' OR status IN ('completed', 'missed')
                     AND closed_at > \(FactWindow.recent.start(now)) AND closed_at <= \(now))
            """
        ) { row throws(SQLiteError) in
            let id: NagID = try row["id"]
            let status: NagStatus = try row["status"]
            let isInOutbox = status == .open && outboxCompletions.contains(id)
            let closedAt = isInOutbox ? now : try row["closed_at"] as Timestamp?
            return CoachFacts.Nag(
                id: id, category: try row["category"], status: isInOutbox ? .completed : status,
                dueAt: try row["due_at"], closedAt: closedAt)
        }
        var facts = CoachFacts(
            familyID: familyID, userID: userID, nags: nags,
            missCount7d: try recentMissCount(of: userID, cachedFamily, now), streak: member.streak,
            tone: member.preferences.tone)
        facts.sessionTurns = session
        return Snapshot(facts, now: now, zone: zone(cachedFamily))
    }

    /// Returns the names of those members of the family whose facts this device has.
    func memberNames() throws -> [String] {
        try cache.database.rows(
            """
            SELECT m.user_id, m.display_name FROM families f JOIN members m ON m.family = f.key
            WHERE f.id = \(family) AND m.display_name IS NOT NULL
            """
        ) { row throws(SQLiteError) in
            let user: UserID = try row["user_id"]
            return try cache.seal.open(try row["display_name"], .memberName, user)
        }
    }

    /// Checks that the cache has a complete copy of the family.
    /// - Throws: `CacheMiss.neverSynced` if no sync of the family has reached its end yet.
    func requireSynced() throws { _ = try requireSyncedFamily() }

    // MARK: Rows

    private func requireSyncedFamily() throws -> CachedFamily {
        guard let cachedFamily = try cache.cachedFamily(family), cachedFamily.syncedAt != nil,
            cachedFamily.timeZone != nil
        else {
            throw CacheMiss.neverSynced
        }
        return cachedFamily
    }

    private func zone(_ cachedFamily: CachedFamily) -> any ZoneRules { zones.zoneOrUTC(cachedFamily.timeZone ?? "UTC") }

    private func nag(_ id: NagID, _ cachedFamily: CachedFamily) throws -> NagSnapshot {
        let nag = try cache.database.first(
            """
            SELECT recipient_id, category, status, due_at, created_at FROM nags
            WHERE family = \(cachedFamily.key) AND id = \(id)
            """
        ) { row throws(SQLiteError) in
            NagSnapshot(
                id: id, familyID: family, recipientID: try row["recipient_id"], category: try row["category"],
                status: try row["status"], dueAt: try row["due_at"], createdAt: try row["created_at"])
        }
        guard let nag else { throw CacheMiss.nagUnknown }
        return nag
    }

    private func member(_ user: UserID, _ cachedFamily: CachedFamily) throws -> CachedMember? {
        try cache.database.first(
            """
            SELECT time_zone, quiet_start, quiet_end, push_back_mode, tone, allows_on_device, streak FROM members
            WHERE family = \(cachedFamily.key) AND user_id = \(user)
            """
        ) { row throws(SQLiteError) in
            var preferences = Preferences()
            preferences.timeZone = try row["time_zone"]
            preferences.pushBackMode = try row["push_back_mode"]
            preferences.tone = try row["tone"]
            preferences.aiOnDeviceEnabled = try row["allows_on_device"]
            if let start: TimeOfDay = try row["quiet_start"], let end: TimeOfDay = try row["quiet_end"] {
                preferences.quietHoursEnabled = true
                preferences.quietWindow = QuietHours(start: start, end: end)
            }
            return CachedMember(preferences: preferences, streak: try row["streak"])
        }
    }

    /// Returns whether a member lets their device answer; true for a member whom the cache does not have.
    func allowsDeviceAnswers(_ user: UserID) throws -> Bool {
        guard let cachedFamily = try cache.cachedFamily(family) else { return true }
        return try member(user, cachedFamily)?.preferences.aiOnDeviceEnabled ?? true
    }

    /// Returns the number of the user's misses within `FactWindow.recent`.
    private func recentMissCount(of user: UserID, _ cachedFamily: CachedFamily, _ now: Timestamp) throws -> Int {
        try cache.database.first(
            """
            SELECT count(*) FROM nag_events WHERE family = \(cachedFamily.key) AND type = 1
                AND recipient = (SELECT key FROM words WHERE value = \(user))
                AND at > \(FactWindow.recent.start(now)) AND at <= \(now)
            """
        ) { row throws(SQLiteError) in Int(row.integerOrZero(0)) } ?? 0
    }

    /// Returns the user's misses within `FactWindow.patterns`.
    private func patternMisses(
        of user: UserID, _ cachedFamily: CachedFamily, _ now: Timestamp
    ) throws -> [PatternFacts.Miss] {
        try cache.database.rows(
            """
            SELECT n.due_at, e.at FROM nag_events e JOIN nags n ON n.family = e.family AND n.id = e.nag_id
            WHERE e.family = \(cachedFamily.key) AND e.type = 1
                AND e.recipient = (SELECT key FROM words WHERE value = \(user))
                AND e.at > \(FactWindow.patterns.start(now)) AND e.at <= \(now)
            """
        ) { row throws(SQLiteError) in PatternFacts.Miss(dueAt: try row["due_at"], missedAt: try row["at"]) }
    }

    /// Returns the number of the user's excuses within `FactWindow.recent` with the category `time_conflict`.
    private func recentTimeConflictCount(of user: UserID, _ cachedFamily: CachedFamily, _ now: Timestamp) throws -> Int
    {
        try cache.database.first(
            """
            SELECT count(*) FROM nag_events e LEFT JOIN words w ON w.key = e.codes
            WHERE family = \(cachedFamily.key) AND type = 2
                AND actor = (SELECT key FROM words WHERE value = \(user))
                AND at > \(FactWindow.recent.start(now)) AND at <= \(now)
                AND coalesce(w.value, e.payload) ->> 'category' = 'time_conflict'
            """
        ) { row throws(SQLiteError) in Int(row.integerOrZero(0)) } ?? 0
    }

    /// Returns the counts of the recipient's resolved nags: those of the nag's category, and all. Both leave out the
    /// nag itself, and include completions in the outbox.
    private func completionRecords(
        excluding nag: NagSnapshot, _ cachedFamily: CachedFamily
    ) throws -> (category: CompletionRecord, overall: CompletionRecord) {
        var (category, overall) = (CompletionRecord.none, CompletionRecord.none)
        func add(_ kind: NagCategory, _ total: Int, _ completed: Int) {
            overall.resolved += total
            overall.completed += completed
            guard kind == nag.category else { return }
            category.resolved += total
            category.completed += completed
        }
        let sums = try cache.database.rows(
            """
            SELECT category, total, completed FROM resolved
            WHERE family = \(cachedFamily.key) AND user_id = \(nag.recipientID)
            """
        ) { row throws(SQLiteError) -> (NagCategory, Int, Int) in
            (try row["category"], try row["total"], try row["completed"])
        }
        for (kind, total, completed) in sums { add(kind, total, completed) }
        switch nag.status {
        case .completed: add(nag.category, -1, -1)
        case .missed: add(nag.category, -1, 0)
        case .open, .withdrawn, .cancelledRelationshipChange: break
        }
        for other in try nagsCompletedInOutbox(of: nag.recipientID, cachedFamily) where other.id != nag.id {
            add(other.category, 1, 1)
        }
        return (category, overall)
    }

    /// Returns the counts of the recipient's nags of the nag's category that were resolved within `FactWindow.recent`.
    /// They leave out the nag itself, and include completions in the outbox.
    private func recentCategoryRecord(
        excluding nag: NagSnapshot, _ cachedFamily: CachedFamily, _ now: Timestamp
    ) throws -> CompletionRecord {
        var record =
            try cache.database.first(
                """
                SELECT count(*) AS total, count(*) FILTER (WHERE status = 'completed') AS completed FROM nags
                WHERE family = \(cachedFamily.key) AND recipient_id = \(nag.recipientID) AND category = \(nag.category)
                    AND status IN ('completed', 'missed') AND id <> \(nag.id)
                    AND closed_at > \(FactWindow.recent.start(now)) AND closed_at <= \(now)
                """
            ) { row throws(SQLiteError) in
                CompletionRecord(resolved: try row["total"], completed: try row["completed"])
            } ?? CompletionRecord.none
        for other in try nagsCompletedInOutbox(of: nag.recipientID, cachedFamily)
        where other.id != nag.id && other.category == nag.category {
            record.resolved += 1
            record.completed += 1
        }
        return record
    }

    /// Returns the user's open nags whose completion on this device is not uploaded yet.
    private func nagsCompletedInOutbox(of user: UserID, _ cachedFamily: CachedFamily) throws -> [NagSnapshot] {
        outboxCompletions.compactMap { try? nag($0, cachedFamily) }
            .filter { $0.recipientID == user && $0.status == .open }
    }

    /// Returns the times of the push-backs in the nag's current due cycle, oldest first, and the time of the latest
    /// push-back before this cycle; nil if there was none.
    private func pushBacks(
        _ nag: NagSnapshot, _ cachedFamily: CachedFamily
    ) throws -> (inDueCycle: [Timestamp], latestEarlier: Timestamp?) {
        let rows = try cache.database.rows(
            """
            SELECT at, counts FROM push_backs WHERE family = \(cachedFamily.key) AND nag_id = \(nag.id) ORDER BY at
            """
        ) { row throws(SQLiteError) -> (at: Timestamp, counts: Bool) in (try row["at"], try row["counts"]) }
        return (rows.filter(\.counts).map(\.at), rows.filter { !$0.counts }.map(\.at).max())
    }
}

/// A member's facts for the rules.
private struct CachedMember {
    let preferences: Preferences
    /// The number of nags that the member has done on time since their last miss.
    let streak: Int
}
