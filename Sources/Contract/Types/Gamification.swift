import Domain
import JSON

/// A member's points and streak in a family.
public struct GamificationSummary: Hashable, WireObject {
    public var familyID: FamilyID
    public var userID: UserID
    public var totalPoints: Int
    public var currentStreak: Int
    public var eventCount: Int

    public init(familyID: FamilyID, userID: UserID, totalPoints: Int, currentStreak: Int, eventCount: Int) {
        self.familyID = familyID
        self.userID = userID
        self.totalPoints = totalPoints
        self.currentStreak = currentStreak
        self.eventCount = eventCount
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        userID = try fields.required("user_id")
        totalPoints = try fields.required("total_points")
        currentStreak = try fields.required("current_streak")
        eventCount = try fields.required("event_count")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("user_id", userID)
            json.field("total_points", totalPoints)
            json.field("current_streak", currentStreak)
            json.field("event_count", eventCount)
        }
    }
}

/// The points of a family's members since the start of a period.
public struct LeaderboardResponse: Hashable, WireObject {
    public var familyID: FamilyID
    public var periodStart: Timestamp
    public var entries: [LeaderboardEntry]

    public init(familyID: FamilyID, periodStart: Timestamp, entries: [LeaderboardEntry]) {
        self.familyID = familyID
        self.periodStart = periodStart
        self.entries = entries
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        periodStart = try fields.required("period_start")
        entries = try fields.required("leaderboard")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("period_start", periodStart)
            json.field("leaderboard", entries)
        }
    }
}

/// One member's entry in a leaderboard.
public struct LeaderboardEntry: Hashable, WireObject {
    public var userID: UserID
    public var totalPoints: Int

    public init(userID: UserID, totalPoints: Int) {
        self.userID = userID
        self.totalPoints = totalPoints
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        userID = try fields.required("user_id")
        totalPoints = try fields.required("total_points")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("user_id", userID)
            json.field("total_points", totalPoints)
        }
    }
}

/// One change of points or streak.
public struct GamificationEventResponse: Hashable, WireObject {
    public var id: EventID
    public var familyID: FamilyID
    public var userID: UserID
    /// Later versions may add values.
    public var eventType: String
    public var deltaPoints: Int
    public var streakDelta: Int
    public var at: Timestamp

    public init(
        id: EventID, familyID: FamilyID, userID: UserID, eventType: String, deltaPoints: Int, streakDelta: Int,
        at: Timestamp
    ) {
        self.id = id
        self.familyID = familyID
        self.userID = userID
        self.eventType = eventType
        self.deltaPoints = deltaPoints
        self.streakDelta = streakDelta
        self.at = at
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        familyID = try fields.required("family_id")
        userID = try fields.required("user_id")
        eventType = try fields.required("event_type")
        deltaPoints = try fields.required("delta_points")
        streakDelta = try fields.required("streak_delta")
        at = try fields.required("at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("family_id", familyID)
            json.field("user_id", userID)
            json.field("event_type", eventType)
            json.field("delta_points", deltaPoints)
            json.field("streak_delta", streakDelta)
            json.field("at", at)
        }
    }
}

/// A badge that a member has earned; permanent and unique.
public struct BadgeResponse: Hashable, WireObject {
    public var id: BadgeID
    public var userID: UserID
    public var familyID: FamilyID
    public var badgeType: BadgeType
    public var earnedAt: Timestamp

    public init(id: BadgeID, userID: UserID, familyID: FamilyID, badgeType: BadgeType, earnedAt: Timestamp) {
        self.id = id
        self.userID = userID
        self.familyID = familyID
        self.badgeType = badgeType
        self.earnedAt = earnedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        userID = try fields.required("user_id")
        familyID = try fields.required("family_id")
        badgeType = try fields.required("badge_type")
        earnedAt = try fields.required("earned_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("user_id", userID)
            json.field("family_id", familyID)
            json.field("badge_type", badgeType)
            json.field("earned_at", earnedAt)
        }
    }
}
