// The closed enumerations of the wire contract. The raw values are sent to clients, and most are also stored in the
// database. Of `EscalationPhase` the number is stored.

/// The role of a member: a guardian manages the family; guardians and participants may nag every member, children
/// nobody.
public enum FamilyRole: String, Sendable, CaseIterable { case guardian, participant, child }

/// The kind of a family's code: the invite code admits people as members; the child code is for children's sign-in.
public enum FamilyCode: String, Sendable, CaseIterable {
    case invite = "invite_code"
    case child = "child_code"
}

/// The status of a membership: `removed` once the person has left or was removed.
public enum MembershipStatus: String, Sendable, CaseIterable { case active, removed }

/// The status of the relationship of two members: `active` while they can nag each other, `suspended` by a guardian,
/// `revoked` once one of them is no longer a member.
public enum RelationshipStatus: String, Sendable, CaseIterable { case active, suspended, revoked }

/// The state of a block between two people: `lifted` once it is no longer in force.
public enum BlockState: String, Sendable, CaseIterable { case active, lifted }

/// The category of a nag; `meds` is medicine.
public enum NagCategory: String, Sendable, CaseIterable { case chores, meds, homework, appointments, other }

/// The status of a nag.
public enum NagStatus: String, Sendable, CaseIterable {
    /// `missed`: it was not completed before its escalation ended. `withdrawn`: its creator cancelled it, or a guardian
    /// of a child who received it over a connection.
    case open, completed, missed, withdrawn
    /// The membership or connection that the nag needs has ended, or a block was set over its connection.
    case cancelledRelationshipChange = "cancelled_relationship_change"
}

/// The proof of completion that a nag asks for.
public enum DoneDefinition: String, Sendable, CaseIterable {
    /// The recipient says that they know of it.
    case acknowledgeOnly = "ack_only"
    /// The recipient ticks it off.
    case binaryCheck = "binary_check"
    /// The recipient ticks it off with a note. Clients ask for the note, but completion without one is accepted.
    case binaryWithNote = "binary_with_note"
}

/// The style of a nag's reminders.
public enum StrategyTemplate: String, Sendable, CaseIterable { case friendlyReminder = "friendly_reminder" }

/// The interval between the instances of a series. Minutes and hours are absolute time; the others keep the local time
/// of the family.
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

/// A phase of an open nag's escalation. The times are those of `EscalationPlan.standard`; quiet hours delay them.
public enum EscalationPhase: String, Sendable, CaseIterable {
    /// From the creation on, or from an edit that moves the due time.
    case initial = "phase_0_initial"
    /// From an hour before the due time on.
    case dueSoon = "phase_1_due_soon"
    /// From the due time on, with reminders from then on.
    case overdueSoft = "phase_2_overdue_soft"
    /// From an hour after the due time on.
    case overdueBoundedPushBack = "phase_3_overdue_bounded_pushback"
    /// From three hours after the due time on. It is the last phase, after which the nag is missed.
    case guardianReview = "phase_4_guardian_review"
}

/// What a person consents to.
public enum ConsentType: String, Sendable, CaseIterable {
    case childAccountCreation = "child_account_creation"
    /// Text messages.
    case smsOptIn = "sms_opt_in"
    /// The use of the AI.
    case aiMediation = "ai_mediation"
    /// Points, streaks and badges.
    case gamificationParticipation = "gamification_participation"
}

/// The category of the reason that an excuse gives.
public enum ExcuseCategory: String, Sendable, CaseIterable {
    case forgot
    case timeConflict = "time_conflict"
    case unclearInstructions = "unclear_instructions"
    case lackingResources = "lacking_resources"
    case refused, other
}

/// The mediator's tone. A person's `tone` preference maps to it.
public enum AITone: String, Sendable, CaseIterable { case neutral, supportive, firm }

/// The channel of a notification: a push message or a text message.
public enum DeliveryChannel: String, Sendable, CaseIterable { case push, sms }

/// The progress of a notification: `pending` until the provider has taken it, `sent` after that, `delivered` if an open
/// WebSocket showed it and no message was needed, `failed` after the last attempt or if it was dropped.
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

/// The frequency at which a person is notified of their open nags.
public enum NotificationFrequency: String, Sendable, CaseIterable {
    /// The person is notified of each phase, and repeatedly while a nag is overdue.
    case always
    /// The person is notified once of each phase.
    case oncePerPhase = "once_per_phase"
    /// The person gets one notification a day about due and overdue nags. Those about medicine and of the last phase
    /// are sent at once.
    case dailyDigest = "daily_digest"
}

/// The state of a connection between adults of two families. It is `revoked` once a party has ended it or deleted their
/// account, or if the invitation got no answer in time.
public enum ConnectionStatus: String, Sendable, CaseIterable { case pending, active, declined, revoked }

/// Whether a person gets push-backs, messages of the AI that remind them of a nag: `bounded` allows them within the
/// limits of the family's policy.
public enum PushBackMode: String, Sendable, CaseIterable { case off, bounded }

/// A badge for completed nags.
public enum BadgeType: String, Sendable, CaseIterable {
    case firstCompletion = "first_completion"
    /// Three completions on time without a miss; the next two cases are for longer streaks.
    case streak3 = "streak_3"
    case streak7 = "streak_7"
    case streak30 = "streak_30"
    /// A week with three or more due nags, all of which were completed on time.
    case perfectWeek = "perfect_week"
    /// One hundred completions.
    case centuryClub = "century_club"
    /// The badge that an incentive rule of the family awards; no counts earn it. Lists of badges omit it, because
    /// clients do not know it; they show the rule's gamification event instead.
    case familyAward = "family_award"
}
