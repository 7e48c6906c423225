/// When a nag escalates: minutes from its base to each step. Fixed policy, never decided by AI.
public struct EscalationPlan: Hashable, Sendable {
    public let dueSoon: Int
    public let overdueSoft: Int
    public let overduePushBack: Int
    public let guardianReview: Int
    public let missed: Int
    /// Minutes between reminders from the second phase on.
    public let reminderInterval: Int

    /// −60, 0, +60, +180 minutes, missed after 24 hours, reminders every 15 minutes.
    public static let standard = EscalationPlan()

    private init() {
        (dueSoon, overdueSoft, overduePushBack, guardianReview, missed) = (-60, 0, 60, 180, 1_440)
        reminderInterval = 15
    }

    /// Nil unless the steps follow each other, none lies more than a year from the base, and reminders are at least a
    /// minute apart.
    public init?(
        dueSoon: Int, overdueSoft: Int, overduePushBack: Int, guardianReview: Int, missed: Int, reminderInterval: Int
    ) {
        let steps = [dueSoon, overdueSoft, overduePushBack, guardianReview, missed]
        guard steps == steps.sorted(), steps.allSatisfy((-525_600...525_600).contains),
            (1...1_440).contains(reminderInterval)
        else { return nil }
        (self.dueSoon, self.overdueSoft, self.overduePushBack) = (dueSoon, overdueSoft, overduePushBack)
        (self.guardianReview, self.missed, self.reminderInterval) = (guardianReview, missed, reminderInterval)
    }
}

/// How far an open nag has escalated.
public enum EscalationStage: Hashable, Sendable {
    case phase(EscalationPhase)
    case missed
}

/// One step of an escalation and the moment it takes effect.
public struct EscalationStep: Hashable, Sendable {
    public let stage: EscalationStage
    public let at: Timestamp
}

/// The escalation of one nag, as long as it stays open: pure computation over its times.
public struct Escalation: Sendable {
    /// All six steps in order, with moments that never go back. Quiet hours hold a step until they end; a step that
    /// lay before the nag's creation takes effect with it.
    public let steps: [EscalationStep]
    private let plan: EscalationPlan
    private let quietHours: QuietHours?
    private let zone: any ZoneRules

    /// `base` is the due time, or the commit time where the recipient wants that (`base(dueAt:committedAt:preferences:)`);
    /// `zone` is the recipient's.
    public init(
        createdAt: Timestamp, base: Timestamp, quietHours: QuietHours?, zone: any ZoneRules,
        plan: EscalationPlan = .standard
    ) {
        let offsets: [(EscalationStage, Int)] = [
            (.phase(.dueSoon), plan.dueSoon), (.phase(.overdueSoft), plan.overdueSoft),
            (.phase(.overdueBoundedPushBack), plan.overduePushBack), (.phase(.guardianReview), plan.guardianReview),
            (.missed, plan.missed),
        ]
        var steps = [EscalationStep(stage: .phase(.initial), at: createdAt)]
        var last = createdAt
        for (stage, minutes) in offsets {
            let planned = max(base + .minutes(Int64(minutes)), last)
            last = quietHours?.end(after: planned, in: zone) ?? planned
            steps.append(EscalationStep(stage: stage, at: last))
        }
        (self.steps, self.plan, self.quietHours, self.zone) = (steps, plan, quietHours, zone)
    }

    public static func base(dueAt: Timestamp, committedAt: Timestamp?, preferences: Preferences) -> Timestamp {
        preferences.usesCommitTimeForEscalation ? committedAt ?? dueAt : dueAt
    }

    /// Where the nag stands at that moment; before its creation, in the first phase.
    public func stage(at now: Timestamp) -> EscalationStage {
        steps.last { $0.at <= now }?.stage ?? .phase(.initial)
    }

    /// The step that comes next, nil once the nag is missed.
    public func nextStep(after now: Timestamp) -> EscalationStep? {
        steps.first { $0.at > now }
    }

    /// The steps that took effect after `earlier` and up to `now`, in order: what a scheduler that slept catches up.
    public func steps(after earlier: Timestamp, upTo now: Timestamp) -> [EscalationStep] {
        steps.filter { earlier < $0.at && $0.at <= now }
    }

    /// When to remind again: one interval after the last reminder, from the second phase on until the nag is missed,
    /// outside snoozes and quiet hours. One moment only, however long ago the last reminder was.
    public func nextReminder(after lastReminder: Timestamp?, now: Timestamp, snoozedUntil: Timestamp?) -> Timestamp? {
        guard let first = steps.first(where: { $0.stage == .phase(.overdueSoft) })?.at, let missed = steps.last?.at
        else { return nil }
        let spaced = lastReminder.map { $0 + .minutes(Int64(plan.reminderInterval)) } ?? first
        let earliest = max(first, spaced, now, snoozedUntil ?? now)
        let moment = quietHours?.end(after: earliest, in: zone) ?? earliest
        return moment < missed ? moment : nil
    }
}
