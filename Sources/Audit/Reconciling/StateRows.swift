import Domain

/// Rows of the database that the audit log explains. People are given by their pseudonyms; nil for an erased person.
public enum StateRow: Sendable {
    case member(MemberRow)
    case relationship(RelationshipRow)
    case consent(ConsentRow)
    case nag(NagRow)
    case score(ScoreRow)
    case totals(TotalsRow)
    case badge(BadgeRow)
    case policy(PolicyRow)
    case connection(ConnectionRow)
    case incentiveRule(IncentiveRuleRow)
    case incentive(IncentiveRow)
    case constraint(ConstraintRow)
}

public struct MemberRow: Sendable {
    public var user: UserID
    public var person: Pseudonym?
    public var role: String
    public var isActive: Bool

    public init(user: UserID, person: Pseudonym?, role: String, isActive: Bool) {
        self.user = user
        self.person = person
        self.role = role
        self.isActive = isActive
    }
}

public struct RelationshipRow: Sendable {
    public var id: RelationshipID
    public var parties: [Pseudonym?]
    public var status: String

    public init(id: RelationshipID, parties: [Pseudonym?], status: String) {
        self.id = id
        self.parties = parties
        self.status = status
    }
}

public struct ConsentRow: Sendable {
    public var id: ConsentID
    public var person: Pseudonym?
    public var type: String
    public var isRevoked: Bool
    /// The number of the act that gave it; 0 in rows from before numbers were kept.
    public var grantedBy: Int64

    public init(id: ConsentID, person: Pseudonym?, type: String, isRevoked: Bool, grantedBy: Int64) {
        self.id = id
        self.person = person
        self.type = type
        self.isRevoked = isRevoked
        self.grantedBy = grantedBy
    }
}

public struct NagRow: Sendable {
    public var id: NagID
    public var creator: Pseudonym?
    public var recipient: Pseudonym?
    public var category: String
    public var dueAt: Timestamp
    public var status: String
    public var isDismissed: Bool
    /// 0 to 4: how far it has escalated.
    public var phase: Int
    public var parent: NagID?
    /// The number of the act that changed it last.
    public var changedBy: Int64

    public init(
        id: NagID, creator: Pseudonym?, recipient: Pseudonym?, category: String, dueAt: Timestamp, status: String,
        isDismissed: Bool, phase: Int, parent: NagID?, changedBy: Int64
    ) {
        self.id = id
        self.creator = creator
        self.recipient = recipient
        self.category = category
        self.dueAt = dueAt
        self.status = status
        self.isDismissed = isDismissed
        self.phase = phase
        self.parent = parent
        self.changedBy = changedBy
    }
}

/// A gamification event. They come in the order of their acts.
public struct ScoreRow: Sendable {
    public var id: EventID
    public var user: UserID
    public var person: Pseudonym?
    public var nag: NagID?
    public var points: Int64
    public var streakDelta: Int64
    public var isCompletion: Bool
    /// The number of the act that made it.
    public var madeBy: Int64

    public init(
        id: EventID, user: UserID, person: Pseudonym?, nag: NagID?, points: Int64, streakDelta: Int64,
        isCompletion: Bool, madeBy: Int64
    ) {
        self.id = id
        self.user = user
        self.person = person
        self.nag = nag
        self.points = points
        self.streakDelta = streakDelta
        self.isCompletion = isCompletion
        self.madeBy = madeBy
    }
}

/// The sums of a member's gamification events. They come after the events.
public struct TotalsRow: Sendable {
    public var user: UserID
    public var sums: ScoreSums
    /// The part of the sums for events that retention has deleted.
    public var dropped: ScoreSums

    public init(user: UserID, sums: ScoreSums, dropped: ScoreSums = ScoreSums()) {
        self.user = user
        self.sums = sums
        self.dropped = dropped
    }
}

public struct ScoreSums: Sendable, Hashable {
    public var points: Int64 = 0
    public var streak: Int64 = 0
    public var events: Int64 = 0
    public var completions: Int64 = 0

    public init(points: Int64 = 0, streak: Int64 = 0, events: Int64 = 0, completions: Int64 = 0) {
        self.points = points
        self.streak = streak
        self.events = events
        self.completions = completions
    }

    mutating func add(_ row: ScoreRow) {
        add(
            ScoreSums(
                points: row.points, streak: row.streakDelta, events: 1, completions: row.isCompletion ? 1 : 0))
    }

    /// Adds sums. The streak is the sum of its changes, because a miss subtracts no more than the streak.
    mutating func add(_ other: ScoreSums) {
        points &+= other.points
        streak &+= other.streak
        events &+= other.events
        completions &+= other.completions
    }
}

public struct BadgeRow: Sendable {
    public var user: UserID
    public var person: Pseudonym?
    public var type: String

    public init(user: UserID, person: Pseudonym?, type: String) {
        self.user = user
        self.person = person
        self.type = type
    }
}
