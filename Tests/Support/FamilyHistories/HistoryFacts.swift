import Contract
import Domain
import NagzAI
import TimeZones

extension FamilyHistory: FactSource {
    /// Returns the facts about a nag by their definitions, from the whole history: the expected result of the server's
    /// statements.
    public func nagFacts(_ nagID: NagID) async throws -> Snapshot<NagFacts> {
        guard let nag = nags.first(where: { $0.id == nagID }), let member = member(nag.recipient) else {
            throw Unknown()
        }
        let others = nags.filter { $0.recipient == nag.recipient && $0.id != nag.id && $0.isResolved }
        func record(_ nags: [Nag]) -> CompletionRecord {
            CompletionRecord(resolved: nags.count, completed: nags.count { $0.status == .completed })
        }
        var preferences = Preferences()
        preferences.pushBackMode = member.pushBackMode
        preferences.tone = member.tone
        if let quiet = member.quietHours { (preferences.quietHoursEnabled, preferences.quietWindow) = (true, quiet) }
        let facts = NagFacts(
            nag: NagSnapshot(
                id: nag.id, familyID: family, recipientID: nag.recipient, category: nag.category, status: nag.status,
                dueAt: nag.dueAt, createdAt: nag.createdAt),
            missCount7d: misses(of: nag.recipient).count { FactWindow.recent.contains($0.missedAt, now: now) },
            streak: streak(of: nag.recipient),
            timeConflictCount7d: excuses.count {
                $0.author == nag.recipient && $0.category == .timeConflict
                    && FactWindow.recent.contains($0.at, now: now)
            },
            categoryRecord: record(others.filter { $0.category == nag.category }),
            recentCategoryRecord: record(
                others.filter {
                    $0.category == nag.category && FactWindow.recent.contains($0.closedAt ?? .epoch, now: now)
                }),
            overallRecord: record(others),
            cyclePushBacks: pushBacks.filter { $0.nag == nag.id && $0.at >= nag.cycleStartedAt }.map(\.at),
            earlierPushBack: pushBacks.filter { $0.nag == nag.id && $0.at < nag.cycleStartedAt }.map(\.at).max(),
            preferences: preferences,
            policy: try FamilyPolicy(maxPushBacksPerNag: maxPushBack, pushBackCooldownMinutes: cooldownMinutes))
        return Snapshot(facts, now: now, zone: zone(member.timeZone ?? timeZone))
    }

    public func patternFacts(userID: UserID, familyID: FamilyID) async throws -> Snapshot<PatternFacts> {
        Snapshot(
            PatternFacts(userID: userID, familyID: familyID, misses: misses(of: userID)), now: now,
            zone: zone(timeZone))
    }

    public func digestFacts(familyID: FamilyID) async throws -> Snapshot<DigestFacts> {
        let seesAll = reader.flatMap(member)?.role ?? .guardian == .guardian
        return Snapshot(
            DigestFacts(
                familyID: familyID, subject: seesAll ? nil : reader,
                members: members.map { DigestFacts.Member(userID: $0.id, displayName: $0.name, status: $0.status) },
                nags: nags.map {
                    DigestFacts.Nag(
                        recipientID: $0.recipient, status: $0.status, dueAt: $0.dueAt, closedAt: $0.closedAt)
                }),
            now: now, zone: zone(timeZone))
    }

    public func coachFacts(of userID: UserID?, familyID: FamilyID) async throws -> Snapshot<CoachFacts> {
        guard let userID, let member = member(userID) else { throw Unknown() }
        let nags = nags.filter { $0.recipient == userID }.map {
            CoachFacts.Nag(
                id: $0.id, category: $0.category, status: $0.status, dueAt: $0.dueAt, closedAt: $0.closedAt)
        }
        return Snapshot(
            CoachFacts(
                familyID: familyID, userID: userID, nags: nags,
                missCount7d: misses(of: userID).count { FactWindow.recent.contains($0.missedAt, now: now) },
                streak: streak(of: userID), tone: member.tone),
            now: now, zone: zone(timeZone))
    }

    struct Unknown: Error {}

    public func streak(of user: UserID) -> Int {
        max(0, scores.reduce(0) { $0 + ($1.user == user ? $1.streakDelta : 0) })
    }

    private func misses(of user: UserID) -> [PatternFacts.Miss] {
        events.filter { $0.type == "nag_missed" && $0.recipient == user }.compactMap { event in
            guard let nag = nags.first(where: { $0.id == event.nag }) else { return nil }
            return PatternFacts.Miss(dueAt: nag.dueAt, missedAt: event.at)
        }
    }

    func member(_ id: UserID) -> Member? { members.first { $0.id == id } }

    private func zone(_ name: String) -> any ZoneRules { Self.rules[name] ?? UniversalTime() }

    private static let rules: [String: any ZoneRules] = Dictionary(
        uniqueKeysWithValues: zones.compactMap { name in ZoneDatabase.system.zone(name).map { (name, $0) } })
}

extension FamilyHistory.Nag {
    var isResolved: Bool { status == .completed || status == .missed }
}

// MARK: Feed pages

extension FamilyHistory {
    /// The pages of a member's first sync, by the feed's rules: rows that the member may see and that are recent
    /// enough.
    public func pages(for reader: UserID, rowsPerPage: Int) -> [SyncResponse] {
        let seesAll = member(reader)?.role == .guardian
        let oldest = now - .days(90)
        func isSeen(_ id: NagID) -> Bool {
            seesAll || nags.contains { $0.id == id && ($0.creator == reader || $0.recipient == reader) }
        }
        let nagRows = nags.filter { isSeen($0.id) && isInFeed($0) }.map(syncedNag)
        let eventRows = events.filter { isSeen($0.nag) && $0.at >= oldest }.map(syncedEvent)
        let scoreRows = scores.filter { $0.at >= oldest }.map {
            SyncedGamificationEvent(
                id: $0.id, familyID: family, userID: $0.user, eventType: "nag", deltaPoints: 0,
                streakDelta: $0.streakDelta, at: $0.at)
        }
        func slice<Row>(_ rows: [Row], _ page: Int) -> [Row] {
            Array(rows.dropFirst(page * rowsPerPage).prefix(rowsPerPage))
        }
        let longest = [nagRows.count, eventRows.count, scoreRows.count].max() ?? 0
        let count = max(1, (longest + rowsPerPage - 1) / rowsPerPage)
        return (0..<count).map { page in
            SyncResponse(
                nags: slice(nagRows, page), nagEvents: slice(eventRows, page),
                aiMediationEvents: [], gamificationEvents: slice(scoreRows, page),
                serverTime: now - .minutes(Int64(count - page)), cursor: "\(page + 1)", hasMore: page + 1 < count,
                deleted: [], mustRefetch: page == 0, facts: page + 1 < count ? nil : facts(for: reader))
        }
    }

    /// Whether a nag is recent enough for the feed: closed within 30 days or missed within 90.
    public func isInFeed(_ nag: Nag) -> Bool {
        nag.closedAt.map { $0 >= now - .days(nag.status == .missed ? 90 : 30) } ?? true
    }

    private func syncedNag(_ nag: Nag) -> SyncedNag {
        SyncedNag(
            id: nag.id, familyID: family, creatorID: nag.creator, recipientID: nag.recipient, dueAt: nag.dueAt,
            category: nag.category.rawValue, doneDefinition: "ack_only", description: nil, status: nag.status.rawValue,
            createdAt: nag.createdAt, committedAt: nil)
    }

    private func syncedEvent(_ event: Event) -> SyncedNagEvent {
        var payload = event.payload
        if event.type == "nag_missed" { payload["recipient_id"] = event.recipient.description }
        return SyncedNagEvent(
            id: event.id, nagID: event.nag, eventType: event.type, actorID: event.actor, at: event.at, payload: payload)
    }

    public func facts(for reader: UserID) -> FamilyFacts {
        let seesAll = member(reader)?.role == .guardian
        return FamilyFacts(
            timeZone: timeZone, maxPushBack: maxPushBack, cooldownMinutes: cooldownMinutes, allowsMediation: true,
            members: members.filter { seesAll || $0.id == reader }.map { member in
                MemberFacts(
                    userID: member.id, displayName: member.name, role: member.role, status: member.status,
                    timeZone: member.timeZone ?? timeZone, quietHours: member.quietHours,
                    pushBackMode: member.pushBackMode, tone: member.tone, allowsOnDeviceAI: true,
                    streak: streak(of: member.id),
                    resolvedCounts: NagCategory.allCases.compactMap { category in
                        let nags = nags.filter { $0.recipient == member.id && $0.category == category && $0.isResolved }
                        if nags.isEmpty { return nil }
                        return ResolvedNags(
                            category: category, total: nags.count, completed: nags.count { $0.status == .completed })
                    },
                    openNagPushBacks: nags.filter { $0.recipient == member.id && $0.status == .open }.compactMap(
                        counted))
            })
    }

    /// The push-backs on a nag, as the feed counts them; nil without any.
    private func counted(_ nag: Nag) -> NagPushBacks? {
        let times = pushBacks.filter { $0.nag == nag.id }.map(\.at).sorted()
        if times.isEmpty { return nil }
        return NagPushBacks(
            nagID: nag.id, counted: times.filter { $0 >= nag.cycleStartedAt },
            earlier: times.last { $0 < nag.cycleStartedAt })
    }
}
