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
    public var reminderInterval: Timestamp.Span { plan.reminderInterval }
    private let plan: EscalationPlan
    private let quietHours: QuietHours?
    private let zone: any ZoneRules

    /// `base` is the due time, or the commit time where the recipient wants that (`base(dueAt:committedAt:preferences:)`);
    /// `zone` is the recipient's.
    public init(
        createdAt: Timestamp, base: Timestamp, quietHours: QuietHours?, zone: any ZoneRules,
        plan: EscalationPlan = .standard
    ) {
        let offsets: [(EscalationStage, Timestamp.Span)] = [
            (.phase(.dueSoon), plan.dueSoon), (.phase(.overdueSoft), plan.overdueSoft),
            (.phase(.overdueBoundedPushBack), plan.overduePushBack), (.phase(.guardianReview), plan.guardianReview),
            (.missed, plan.missed),
        ]
        var steps = [EscalationStep(stage: .phase(.initial), at: createdAt)]
        var last = createdAt
        for (stage, offset) in offsets {
            let planned = max(base + offset, last)
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

    /// The step that follows one already taken, whatever time it is; nil after the miss.
    public func step(after stage: EscalationStage) -> EscalationStep? {
        guard let index = steps.firstIndex(where: { $0.stage == stage }) else { return nil }
        return steps.dropFirst(index + 1).first
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
        let spaced = lastReminder.map { $0 + plan.reminderInterval } ?? first
        let earliest = max(first, spaced, now, snoozedUntil ?? now)
        let moment = quietHours?.end(after: earliest, in: zone) ?? earliest
        return moment < missed ? moment : nil
    }
}
