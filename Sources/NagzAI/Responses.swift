import Domain

// The responses of the operations, with the fields of the wire contract. `Contract` encodes them as JSON.

public struct ExcuseSummaryResponse: Hashable, Sendable {
    public var nagID: NagID
    /// The excuse in at most 200 user-perceived characters.
    public var summary: String
    public var category: ExcuseCategory
    /// The confidence: 0.9 if the excuse names one category, 0.6 for several, 0.3 for none.
    public var confidence: Double

    public init(nagID: NagID, summary: String, category: ExcuseCategory, confidence: Double) {
        self.nagID = nagID
        self.summary = summary
        self.category = category
        self.confidence = confidence
    }
}

public struct ToneSelectResponse: Hashable, Sendable {
    public var nagID: NagID
    public var tone: AITone
    /// The number of nags that the recipient missed in the last seven days.
    public var missCount7d: Int
    /// The number of nags that the recipient completed on time since the last miss.
    public var streak: Int
    /// The sentence that describes the rule.
    public var reason: String

    public init(nagID: NagID, tone: AITone, missCount7d: Int, streak: Int, reason: String) {
        self.nagID = nagID
        self.tone = tone
        self.missCount7d = missCount7d
        self.streak = streak
        self.reason = reason
    }
}

public struct CoachingResponse: Hashable, Sendable {
    public var nagID: NagID
    public var tip: String
    /// The raw value of the nag's `NagCategory`.
    public var category: String
    /// The raw value of the `CoachingScenario` that the tip is for.
    public var scenario: String

    public init(nagID: NagID, tip: String, category: String, scenario: String) {
        self.nagID = nagID
        self.tip = tip
        self.category = category
        self.scenario = scenario
    }
}

public struct PatternsResponse: Hashable, Sendable {
    public var userID: UserID
    public var familyID: FamilyID
    public var insights: [InsightItem]
    public var analyzedAt: Timestamp

    public init(userID: UserID, familyID: FamilyID, insights: [InsightItem], analyzedAt: Timestamp) {
        self.userID = userID
        self.familyID = familyID
        self.insights = insights
        self.analyzedAt = analyzedAt
    }
}

/// A weekday on which the user repeatedly missed nags.
public struct InsightItem: Hashable, Sendable {
    public var dayOfWeek: Weekday
    /// The number of nags that were due on this weekday and missed, in the last 90 days.
    public var missCount: Int

    public init(dayOfWeek: Weekday, missCount: Int) {
        self.dayOfWeek = dayOfWeek
        self.missCount = missCount
    }
}

public struct DigestResponse: Hashable, Sendable {
    public var familyID: FamilyID
    public var periodStart: Timestamp
    public var periodEnd: Timestamp
    public var summaryText: String
    public var memberSummaries: [MemberSummary]
    public var totals: DigestTotals

    public init(
        familyID: FamilyID, periodStart: Timestamp, periodEnd: Timestamp, summaryText: String,
        memberSummaries: [MemberSummary], totals: DigestTotals
    ) {
        self.familyID = familyID
        self.periodStart = periodStart
        self.periodEnd = periodEnd
        self.summaryText = summaryText
        self.memberSummaries = memberSummaries
        self.totals = totals
    }
}

public struct MemberSummary: Hashable, Sendable {
    public var userID: UserID
    public var displayName: String?
    /// The number of completed, missed and overdue nags.
    public var totalNags: Int
    public var completed: Int
    public var missed: Int
    /// The ratio of `completed` to `totalNags`, with four decimals; 0 if `totalNags` is 0.
    public var completionRate: Double

    public init(
        userID: UserID, displayName: String?, totalNags: Int, completed: Int, missed: Int, completionRate: Double
    ) {
        self.userID = userID
        self.displayName = displayName
        self.totalNags = totalNags
        self.completed = completed
        self.missed = missed
        self.completionRate = completionRate
    }
}

public struct DigestTotals: Hashable, Sendable {
    /// The number of completed, missed and overdue nags.
    public var totalNags: Int
    public var completed: Int
    public var missed: Int
    /// The number of open nags, due or not.
    public var open: Int
    /// The number of open nags whose due time has passed.
    public var overdue: Int
    /// The ratio of `completed` to `totalNags`, with four decimals; 0 if `totalNags` is 0.
    public var completionRate: Double

    public init(totalNags: Int, completed: Int, missed: Int, open: Int, overdue: Int, completionRate: Double) {
        self.totalNags = totalNags
        self.completed = completed
        self.missed = missed
        self.open = open
        self.overdue = overdue
        self.completionRate = completionRate
    }
}

public struct PredictCompletionResponse: Hashable, Sendable {
    public var nagID: NagID
    /// The likelihood: 0.05…0.95 with two decimals, or 1 or 0 for a nag that is no longer open.
    public var likelihood: Double
    /// The time to remind the recipient; nil if it has passed or the nag is not open.
    public var suggestedReminderTime: Timestamp?
    public var factors: [CompletionFactor]

    public init(
        nagID: NagID, likelihood: Double, suggestedReminderTime: Timestamp?, factors: [CompletionFactor]
    ) {
        self.nagID = nagID
        self.likelihood = likelihood
        self.suggestedReminderTime = suggestedReminderTime
        self.factors = factors
    }
}

/// An input of a prediction.
public struct CompletionFactor: Hashable, Sendable {
    /// `category_rate`, `overall_rate`, `recent_misses` or `streak`.
    public var name: String
    /// A rate from 0 to 1, or a count.
    public var value: Double

    public init(name: String, value: Double) {
        self.name = name
        self.value = value
    }
}

public struct PushBackResponse: Hashable, Sendable {
    public var nagID: NagID
    public var shouldPushBack: Bool
    /// The text of the push-back; nil if it was refused.
    public var message: String?
    /// The tone that the rules selected; nil if the push-back was refused. If this tone is neutral, the message has the
    /// tone that the recipient prefers.
    public var tone: AITone?
    /// The `PushBackDecisionReason` for which the push-back was granted or refused.
    public var reason: String

    public init(nagID: NagID, shouldPushBack: Bool, message: String?, tone: AITone?, reason: String) {
        self.nagID = nagID
        self.shouldPushBack = shouldPushBack
        self.message = message
        self.tone = tone
        self.reason = reason
    }

    /// The text of the push-back; empty if it was refused.
    var words: String {
        get { message ?? "" }
        set { message = newValue }
    }
}
