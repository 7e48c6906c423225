import Domain

/// Facts, with the moment at which they were read and a time zone.
public struct Snapshot<Facts: Sendable>: Sendable {
    public var facts: Facts
    public var now: Timestamp
    /// The recipient's zone for facts about a nag, else the family's.
    public var zone: any ZoneRules

    public init(_ facts: Facts, now: Timestamp, zone: any ZoneRules) {
        self.facts = facts
        self.now = now
        self.zone = zone
    }
}

/// The source of the facts for a device's answers, which is its event cache. The server reads facts without it, in its
/// own transactions. An unknown ID throws the source's error.
public protocol FactSource {
    func nagFacts(_ nagID: NagID) async throws -> Snapshot<NagFacts>
    func patternFacts(userID: UserID, familyID: FamilyID) async throws -> Snapshot<PatternFacts>
    func digestFacts(familyID: FamilyID) async throws -> Snapshot<DigestFacts>
    /// - Parameter userID: the person who asks; the event cache throws if it is nil.
    func coachFacts(of userID: UserID?, familyID: FamilyID) async throws -> Snapshot<CoachFacts>
}

/// The facts for operations on one nag. Negative counts are treated as 0.
public struct NagFacts: Hashable, Sendable {
    public var nag: NagSnapshot
    /// The number of `nag_missed` events of the recipient's nags in this family within `FactWindow.recent`.
    public var missCount7d: Int
    /// The number of nags that the recipient completed on time in this family since their last miss: the sum of
    /// `streak_delta` over their gamification events, never below 0.
    public var streak: Int
    /// The number of the recipient's excuses in this family within `FactWindow.recent` with the category
    /// `time_conflict`.
    public var timeConflictCount7d: Int
    /// The record of the recipient's other nags of the same category in this family, of any age.
    public var categoryRecord: CompletionRecord
    /// The record of those nags in `categoryRecord` that were resolved within `FactWindow.recent`.
    public var recentCategoryRecord: CompletionRecord
    /// The record of the recipient's other nags of all categories in this family, of any age.
    public var overallRecord: CompletionRecord
    /// The times of this nag's granted push-backs since its due cycle began, in any order. A new due time begins a new
    /// due cycle.
    public var cyclePushBacks: [Timestamp]
    /// The time of the latest push-back of an earlier due cycle; nil if there is none. It does not count towards the
    /// maximum, but its cooldown applies.
    public var earlierPushBack: Timestamp?
    /// The recipient's effective preferences: push-back mode, quiet hours, tone.
    public var preferences: Preferences
    /// The family's policy: push-back maximum and cooldown.
    public var policy: FamilyPolicy
    /// The latest turns of the AI session that the question belongs to, oldest first.
    public var sessionTurns: [SessionTurn] = []

    public init(
        nag: NagSnapshot, missCount7d: Int = 0, streak: Int = 0, timeConflictCount7d: Int = 0,
        categoryRecord: CompletionRecord = .none, recentCategoryRecord: CompletionRecord = .none,
        overallRecord: CompletionRecord = .none, cyclePushBacks: [Timestamp] = [], earlierPushBack: Timestamp? = nil,
        preferences: Preferences = Preferences(), policy: FamilyPolicy = .standard
    ) {
        self.nag = nag
        self.missCount7d = missCount7d
        self.streak = streak
        self.timeConflictCount7d = timeConflictCount7d
        self.categoryRecord = categoryRecord
        self.recentCategoryRecord = recentCategoryRecord
        self.overallRecord = overallRecord
        self.cyclePushBacks = cyclePushBacks
        self.earlierPushBack = earlierPushBack
        self.preferences = preferences
        self.policy = policy
    }
}

/// The nag that an operation is about.
public struct NagSnapshot: Hashable, Sendable {
    public var id: NagID
    /// The family; nil for a nag over a connection.
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

/// Two counts of nags: the resolved ones (completed or missed), and the completed ones among them.
public struct CompletionRecord: Hashable, Sendable {
    /// The number of resolved nags.
    public var resolved: Int
    /// The number of completed nags.
    public var completed: Int

    public init(resolved: Int, completed: Int) {
        self.resolved = resolved
        self.completed = completed
    }

    public static let none = CompletionRecord(resolved: 0, completed: 0)
}

/// The nags that one user missed in one family.
public struct PatternFacts: Hashable, Sendable {
    /// A missed nag.
    public struct Miss: Hashable, Sendable {
        public var dueAt: Timestamp
        /// The time of the `nag_missed` event, by default a day after the due time.
        public var missedAt: Timestamp

        public init(dueAt: Timestamp, missedAt: Timestamp) {
            self.dueAt = dueAt
            self.missedAt = missedAt
        }
    }

    public var userID: UserID
    public var familyID: FamilyID
    /// The misses in any order; those outside `FactWindow.patterns` are ignored.
    public var misses: [Miss]

    public init(userID: UserID, familyID: FamilyID, misses: [Miss]) {
        self.userID = userID
        self.familyID = familyID
        self.misses = misses
    }
}

/// A family's members and its recent nags.
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
        /// The time at which it was completed, missed, withdrawn or cancelled; nil while it is open.
        public var closedAt: Timestamp?

        public init(recipientID: UserID, status: NagStatus, dueAt: Timestamp, closedAt: Timestamp? = nil) {
            self.recipientID = recipientID
            self.status = status
            self.dueAt = dueAt
            self.closedAt = closedAt
        }

        /// Whether a digest counts the nag: it is open, or it was completed or missed within `FactWindow.recent`.
        public func isCounted(now: Timestamp) -> Bool {
            switch status {
            case .open: true
            case .completed, .missed: closedAt.map { FactWindow.recent.contains($0, now: now) } ?? false
            case .withdrawn, .cancelledRelationshipChange: false
            }
        }
    }

    public var familyID: FamilyID
    /// The member that the digest is about; nil for the whole family.
    public var subject: UserID?
    /// The members in any order; a digest ignores removed members.
    public var members: [Member]
    /// The nags in any order; those that a digest does not count are ignored.
    public var nags: [Nag]

    public init(familyID: FamilyID, subject: UserID? = nil, members: [Member], nags: [Nag]) {
        self.familyID = familyID
        self.subject = subject
        self.members = members
        self.nags = nags
    }
}

/// The time windows for counting facts, equal on server and device.
public enum FactWindow: Sendable, CaseIterable {
    /// (now − 7 d, now]: for misses, time conflicts, resolved nags of a category, and digests.
    case recent
    /// (now − 90 d, now]: for misses by weekday.
    case patterns

    /// Returns the start of the window, which does not belong to it.
    public func start(_ now: Timestamp) -> Timestamp {
        switch self {
        case .recent: now - .days(7)
        case .patterns: now - .days(90)
        }
    }

    public func contains(_ moment: Timestamp, now: Timestamp) -> Bool { start(now) < moment && moment <= now }
}
