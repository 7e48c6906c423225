/// A stage of a nag's escalation: the phases of the open nag, and its end.
public enum EscalationStage: Hashable, Sendable {
    case phase(EscalationPhase)
    /// The escalation has ended without a completion.
    case missed
}

/// One step of an escalation, with the time at which it takes effect.
public struct EscalationStep: Hashable, Sendable {
    public let stage: EscalationStage
    public let at: Timestamp
}

/// The escalation schedule of one open nag. A pure function of its times.
public struct Escalation: Sendable {
    /// All six steps in order, at non-decreasing times. Quiet hours delay a step to their end; a step before the start
    /// of the due cycle takes effect at that start.
    public let steps: [EscalationStep]
    public var reminderInterval: Timestamp.Span { plan.reminderInterval }
    private let plan: EscalationPlan
    private let quietHours: QuietHours?
    private let zone: any ZoneRules

    /// - Parameters:
    ///   - cycleStartedAt: the time at which the nag was created, or at which an edit last moved its due time.
    ///   - baseTime: the result of `baseTime(dueAt:committedAt:preferences:)`.
    ///   - zone: the recipient's zone.
    public init(
        cycleStartedAt: Timestamp, baseTime: Timestamp, quietHours: QuietHours?, zone: any ZoneRules,
        plan: EscalationPlan = .standard
    ) {
        let offsets: [(EscalationStage, Timestamp.Span)] = [
            (.phase(.dueSoon), plan.dueSoon), (.phase(.overdueSoft), plan.overdueSoft),
            (.phase(.overdueBoundedPushBack), plan.overduePushBack), (.phase(.guardianReview), plan.guardianReview),
            (.missed, plan.missed),
        ]
        var steps = [EscalationStep(stage: .phase(.initial), at: cycleStartedAt)]
        var last = cycleStartedAt
        for (stage, offset) in offsets {
            let plannedTime = max(baseTime + offset, last)
            last = quietHours?.firstMomentOutside(from: plannedTime, in: zone) ?? plannedTime
            steps.append(EscalationStep(stage: stage, at: last))
        }
        (self.steps, self.plan, self.quietHours, self.zone) = (steps, plan, quietHours, zone)
    }

    /// Returns the time from which the steps are counted: the due time, or the commit time if the recipient prefers it.
    public static func baseTime(dueAt: Timestamp, committedAt: Timestamp?, preferences: Preferences) -> Timestamp {
        preferences.usesCommitTimeForEscalation ? committedAt ?? dueAt : dueAt
    }

    /// Returns the step that follows `stage`, whatever its time; nil after `missed`.
    public func step(after stage: EscalationStage) -> EscalationStep? {
        guard let index = steps.firstIndex(where: { $0.stage == stage }) else { return nil }
        return steps.dropFirst(index + 1).first
    }

    /// Returns the time of the next reminder, which is `now` if one is due; nil if the nag would be missed by then.
    /// Reminders begin with `overdueSoft`, at intervals, outside snoozes and quiet hours. After a pause only one
    /// reminder follows, however many were omitted.
    public func nextReminder(after lastReminder: Timestamp?, now: Timestamp, snoozedUntil: Timestamp?) -> Timestamp? {
        guard let first = steps.first(where: { $0.stage == .phase(.overdueSoft) })?.at, let missed = steps.last?.at
        else { return nil }
        let nextRegularTime = lastReminder.map { $0 + plan.reminderInterval } ?? first
        let earliest = max(first, nextRegularTime, now, snoozedUntil ?? now)
        let moment = quietHours?.firstMomentOutside(from: earliest, in: zone) ?? earliest
        return moment < missed ? moment : nil
    }
}
