// The closed enumerations of the wire contract. The raw values are sent to clients, and most are also stored in the
// database. Of `EscalationPhase` the number is stored.

public enum FamilyRole: String, Sendable, CaseIterable { case guardian, participant, child }

/// Codes of a family: the invite code admits people as members; the child code is for children's sign-in.
public enum FamilyCode: String, Sendable, CaseIterable {
    case invite = "invite_code"
    case child = "child_code"
}

public enum MembershipStatus: String, Sendable, CaseIterable { case active, removed }

public enum RelationshipStatus: String, Sendable, CaseIterable { case active, suspended, revoked }

public enum BlockState: String, Sendable, CaseIterable { case active, lifted }

public enum NagCategory: String, Sendable, CaseIterable { case chores, meds, homework, appointments, other }

public enum NagStatus: String, Sendable, CaseIterable {
    case open, completed, missed, withdrawn
    case cancelledRelationshipChange = "cancelled_relationship_change"
}

public enum DoneDefinition: String, Sendable, CaseIterable {
    case acknowledgeOnly = "ack_only"
    case binaryCheck = "binary_check"
    /// Clients ask for a note. Completion without one is accepted.
    case binaryWithNote = "binary_with_note"
}

public enum StrategyTemplate: String, Sendable, CaseIterable { case friendlyReminder = "friendly_reminder" }

public enum Recurrence: String, Sendable, CaseIterable {
    case every5Minutes = "every_5_minutes"
    case every15Minutes = "every_15_minutes"
    case every30Minutes = "every_30_minutes"
    case hourly, daily, weekly, monthly
}

/// The instances of a series to which a new due time applies.
public enum MoveScope: String, Sendable, CaseIterable {
    /// The instance alone: the series keeps its pattern.
    case this
    /// The instance and those after it: the series gets a new pattern.
    case series
}

public enum EscalationPhase: String, Sendable, CaseIterable {
    case initial = "phase_0_initial"
    case dueSoon = "phase_1_due_soon"
    case overdueSoft = "phase_2_overdue_soft"
    case overdueBoundedPushBack = "phase_3_overdue_bounded_pushback"
    case guardianReview = "phase_4_guardian_review"
}

public enum ConsentType: String, Sendable, CaseIterable {
    case childAccountCreation = "child_account_creation"
    case smsOptIn = "sms_opt_in"
    case aiMediation = "ai_mediation"
    case gamificationParticipation = "gamification_participation"
}

public enum ExcuseCategory: String, Sendable, CaseIterable {
    case forgot
    case timeConflict = "time_conflict"
    case unclearInstructions = "unclear_instructions"
    case lackingResources = "lacking_resources"
    case refused, other
}

/// The mediator's tone. A person's `tone` preference maps to it.
public enum AITone: String, Sendable, CaseIterable { case neutral, supportive, firm }

public enum DeliveryChannel: String, Sendable, CaseIterable { case push, sms }

/// The progress of sending a delivery.
public enum DeliveryStatus: String, Sendable, CaseIterable { case pending, sent, delivered, failed }

/// The platform that a push token is for.
public enum DevicePlatform: String, Sendable, CaseIterable {
    case ios, ipados, macos, web, android

    /// Whether push messages go through Apple's service.
    public var isApple: Bool {
        switch self {
        case .ios, .ipados, .macos: true
        case .web, .android: false
        }
    }
}

/// The channels on which a person wants to be notified.
public enum PreferredChannel: String, Sendable, CaseIterable { case push, sms, both }

/// The frequency at which a person is notified of their nags.
public enum NotificationFrequency: String, Sendable, CaseIterable {
    /// The person is notified of each phase, and repeatedly while a nag is overdue.
    case always
    /// The person is notified once of each phase.
    case oncePerPhase = "once_per_phase"
    /// The person gets one notification a day about due and overdue nags, and an immediate one only if it is urgent.
    case dailyDigest = "daily_digest"
}

/// The state of a connection between adults of two families.
public enum ConnectionStatus: String, Sendable, CaseIterable { case pending, active, declined, revoked }

public enum PushBackMode: String, Sendable, CaseIterable { case off, bounded }

public enum BadgeType: String, Sendable, CaseIterable {
    case firstCompletion = "first_completion"
    case streak3 = "streak_3"
    case streak7 = "streak_7"
    case streak30 = "streak_30"
    case perfectWeek = "perfect_week"
    case centuryClub = "century_club"
    /// The badge that an incentive rule of the family awards; no counts earn it. Lists of badges omit it, because
    /// clients do not know it; they show the rule's gamification event instead.
    case familyAward = "family_award"
}
