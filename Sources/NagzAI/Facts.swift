import Domain

/// Facts together with the moment and the time zone they hold for, all read at once.
public struct Snapshot<Facts: Sendable>: Sendable {
    public var facts: Facts
    public var now: Timestamp
    /// The recipient's for facts about a nag, the family's otherwise.
    public var zone: any ZoneRules

    public init(_ facts: Facts, now: Timestamp, zone: any ZoneRules) {
        self.facts = facts
        self.now = now
        self.zone = zone
    }
}

/// Where facts come from: PostgreSQL on the server, the event cache on a device. An unknown id is its own error.
public protocol FactSource {
    func nagFacts(_ nagID: NagID) async throws -> Snapshot<NagFacts>
    func patternFacts(userID: UserID, familyID: FamilyID) async throws -> Snapshot<PatternFacts>
    func digestFacts(familyID: FamilyID) async throws -> Snapshot<DigestFacts>
}

/// Everything the operations on one nag look at. Counts below 0 count as 0.
public struct NagFacts: Hashable, Sendable {
    public var nag: NagSnapshot
    /// `nag_missed` events of the recipient's nags in this family within `FactWindow.recent`.
    public var missCount7d: Int
    /// The sum of `streak_delta` over the recipient's gamification events in this family, never below 0.
    public var streak: Int
    /// Excuses of the recipient in this family within `FactWindow.recent` that were categorised `time_conflict`.
    public var timeConflictCount7d: Int
    /// The recipient's other resolved nags of the same category.
    public var category: CompletionRecord
    /// Those of the same category that were resolved within `FactWindow.recent`.
    public var recentCategory: CompletionRecord
    /// The recipient's other resolved nags of all categories.
    public var overall: CompletionRecord
    /// Times of this nag's `push_back` mediation events since its due cycle began, in any order.
    public var pushBacks: [Timestamp]
    /// The youngest push-back of an earlier due cycle: it counts no more, but its cooldown goes on.
    public var earlierPushBack: Timestamp?
    /// The recipient's effective preferences: push-back mode, quiet hours, tone.
    public var preferences: Preferences
    /// The family's policy: push-back maximum and cooldown.
    public var policy: FamilyPolicy

    public init(
        nag: NagSnapshot, missCount7d: Int = 0, streak: Int = 0, timeConflictCount7d: Int = 0,
        category: CompletionRecord = .none, recentCategory: CompletionRecord = .none,
        overall: CompletionRecord = .none, pushBacks: [Timestamp] = [], earlierPushBack: Timestamp? = nil,
        preferences: Preferences = Preferences(), policy: FamilyPolicy = .standard
    ) {
        self.nag = nag
        self.missCount7d = missCount7d
        self.streak = streak
        self.timeConflictCount7d = timeConflictCount7d
        self.category = category
        self.recentCategory = recentCategory
        self.overall = overall
        self.pushBacks = pushBacks
        self.earlierPushBack = earlierPushBack
        self.preferences = preferences
        self.policy = policy
    }
}

/// The nag that an operation is about.
public struct NagSnapshot: Hashable, Sendable {
    public var id: NagID
    /// Nil for a nag of a connection.
    public var familyID: FamilyID?
    public var recipientID: UserID
    public var category: NagCategory
    public var status: NagStatus
    public var dueAt: Timestamp
    public var createdAt: Timestamp

    public init(
        id: NagID, familyID: FamilyID?, recipientID: UserID, category: NagCategory, status: NagStatus,
        dueAt: Timestamp, createdAt: Timestamp
    ) {
        self.id = id
        self.familyID = familyID
        self.recipientID = recipientID
        self.category = category
        self.status = status
        self.dueAt = dueAt
        self.createdAt = createdAt
    }
}

/// How many resolved nags (completed or missed) there were, and how many of them were completed.
public struct CompletionRecord: Hashable, Sendable {
    public var total: Int
    public var completed: Int

    public init(total: Int, completed: Int) {
        self.total = total
        self.completed = completed
    }

    public static let none = CompletionRecord(total: 0, completed: 0)
}

/// The nags that one user missed in one family.
public struct PatternFacts: Hashable, Sendable {
    /// A missed nag.
    public struct Miss: Hashable, Sendable {
        public var dueAt: Timestamp
        /// When the miss was recorded, a day or so later: the time of its `nag_missed` event.
        public var missedAt: Timestamp

        public init(dueAt: Timestamp, missedAt: Timestamp) {
            self.dueAt = dueAt
            self.missedAt = missedAt
        }
    }

    public var userID: UserID
    public var familyID: FamilyID
    /// In any order; those missed outside `FactWindow.patterns` are ignored.
    public var misses: [Miss]

    public init(userID: UserID, familyID: FamilyID, misses: [Miss]) {
        self.userID = userID
        self.familyID = familyID
        self.misses = misses
    }
}

/// A family's members and the nags that were due lately.
public struct DigestFacts: Hashable, Sendable {
    /// A member of the family.
    public struct Member: Hashable, Sendable {
        public var userID: UserID
        public var displayName: String?
        public var status: MembershipStatus

        public init(userID: UserID, displayName: String?, status: MembershipStatus = .active) {
            self.userID = userID
            self.displayName = displayName
            self.status = status
        }
    }

    /// A nag of the family.
    public struct Nag: Hashable, Sendable {
        public var recipientID: UserID
        public var status: NagStatus
        public var dueAt: Timestamp

        public init(recipientID: UserID, status: NagStatus, dueAt: Timestamp) {
            self.recipientID = recipientID
            self.status = status
            self.dueAt = dueAt
        }
    }

    public var familyID: FamilyID
    /// The one member the digest is about; nil for the whole family.
    public var subject: UserID?
    /// In any order; removed members are left out of the digest.
    public var members: [Member]
    /// In any order; those due outside `FactWindow.digest` are ignored.
    public var nags: [Nag]

    public init(familyID: FamilyID, subject: UserID? = nil, members: [Member], nags: [Nag]) {
        self.familyID = familyID
        self.subject = subject
        self.members = members
        self.nags = nags
    }
}

/// The spans of time that facts are counted over, so that server and device draw the same lines.
public enum FactWindow: Sendable, CaseIterable {
    /// (now − 7 d, now]: misses, time conflicts, nags of the category that were resolved.
    case recent
    /// (now − 90 d, now]: misses to group by weekday.
    case patterns
    /// [now − 7 d, now): due times of the digest.
    case digest

    public func start(_ now: Timestamp) -> Timestamp {
        switch self {
        case .recent, .digest: now - .days(7)
        case .patterns: now - .days(90)
        }
    }

    public func contains(_ moment: Timestamp, now: Timestamp) -> Bool {
        switch self {
        case .recent, .patterns: start(now) < moment && moment <= now
        case .digest: start(now) <= moment && moment < now
        }
    }
}
