/// A response, and the rule that produced it, which the audit log names.
public struct Outcome<Response: Sendable>: Sendable {
    public let response: Response
    public let rule: HeuristicRule

    public init(_ response: Response, _ rule: HeuristicRule) {
        self.response = response
        self.rule = rule
    }
}

extension Outcome: Equatable where Response: Equatable {}

/// The IDs of the heuristics' rules, as used in audit entries. An ID MUST NOT change its meaning.
public enum HeuristicRule: String, Sendable, CaseIterable {
    case toneRecentMisses = "tone.recent_misses"
    case toneSteadyStreak = "tone.steady_streak"
    case toneDefault = "tone.default"

    case excuseOneCategory = "excuse.one_category"
    case excuseSeveralCategories = "excuse.several_categories"
    case excuseNoCategory = "excuse.no_category"

    case patternsRepeatedWeekday = "patterns.repeated_weekday"
    case patternsNone = "patterns.none"

    case coachingRepeatedTimeConflict = "coaching.repeated_time_conflict"
    case coachingOneRecentMiss = "coaching.first_miss"
    case coachingStreak = "coaching.streak_3"
    case coachingHighCompletionHomework = "coaching.high_completion_homework"
    case coachingGeneral = "coaching.general"

    case pushBackNagNotOpen = "push_back.nag_not_open"
    case pushBackModeOff = "push_back.mode_off"
    case pushBackMaxAttempts = "push_back.max_attempts_reached"
    case pushBackQuietHours = "push_back.quiet_hours"
    case pushBackCooldown = "push_back.cooldown_active"
    /// The push-back is granted.
    case pushBackBounded = "push_back.bounded_push_back"

    case predictionCompleted = "prediction.completed"
    /// The nag is missed, withdrawn or cancelled.
    case predictionClosed = "prediction.closed"
    case predictionWeighedRates = "prediction.weighed_rates"

    case digestNothingDue = "digest.nothing_due"
    case digestWeek = "digest.week"

    case coachDue = "coach.due"
    case coachWeek = "coach.week"
    case coachTone = "coach.tone"
    case coachUnknown = "coach.unknown"
}

/// The situation that a coaching tip is for: the first that applies. “Recently” means within `FactWindow.recent`.
public enum CoachingScenario: String, Sendable, CaseIterable {
    /// The recipient recently had two or more excuses because of a time conflict.
    case repeatedTimeConflict = "repeated_time_conflict"
    /// The recipient recently missed exactly one nag.
    case oneRecentMiss = "first_miss"
    /// The recipient has a streak of three or more.
    case streak3 = "streak_3"
    /// The nag is homework. Of three or more other homework nags that were recently resolved, at least 80 % were
    /// completed.
    case highCompletionHomework = "high_completion_homework"
    /// None of the others.
    case general
}

/// Whether a push-back is before or after the nag's due time. It selects the text.
public enum PushBackTiming: String, Sendable, CaseIterable { case upcoming, overdue }

/// The reason why a push-back was granted or refused: the `reason` of the response.
public enum PushBackDecisionReason: String, Sendable, CaseIterable {
    case nagNotOpen = "nag_not_open"
    /// The recipient's preferences switch push-backs off.
    case modeOff = "mode_off"
    /// The nag's due cycle has had as many push-backs as the policy allows.
    case maxAttemptsReached = "max_attempts_reached"
    /// It is in the recipient's quiet hours now.
    case quietHours = "quiet_hours"
    /// The latest push-back is more recent than the policy's cooldown allows.
    case cooldownActive = "cooldown_active"
    /// The push-back is granted; all other reasons refuse it.
    case boundedPushBack = "bounded_push_back"
}
