/// The offsets of the escalation steps from a nag's base time (`Escalation.baseTime`); a negative one is before it. The
/// AI never decides them.
public struct EscalationPlan: Hashable, Sendable {
    public let dueSoon: Timestamp.Span
    public let overdueSoft: Timestamp.Span
    public let overduePushBack: Timestamp.Span
    public let guardianReview: Timestamp.Span
    public let missed: Timestamp.Span
    /// The time between reminders, which begin with `overdueSoft`.
    public let reminderInterval: Timestamp.Span

    /// The default: −60, 0, +60 and +180 minutes; missed after 24 hours; reminders every 15 minutes.
    public static let standard = EscalationPlan()

    private init() {
        (dueSoon, overdueSoft, overduePushBack) = (.minutes(-60), .seconds(0), .minutes(60))
        (guardianReview, missed, reminderInterval) = (.minutes(180), .hours(24), .minutes(15))
    }

    /// Creates a plan; nil unless the steps are in order and at most a year from the base, and the reminder interval is
    /// one second to one day.
    public init?(
        dueSoon: Timestamp.Span, overdueSoft: Timestamp.Span, overduePushBack: Timestamp.Span,
        guardianReview: Timestamp.Span, missed: Timestamp.Span, reminderInterval: Timestamp.Span
    ) {
        let steps = [dueSoon, overdueSoft, overduePushBack, guardianReview, missed].map(\.microseconds)
        let year = Timestamp.Span.days(365).microseconds
        guard steps == steps.sorted(), steps.allSatisfy((-year...year).contains),
            (Timestamp.Span.seconds(1).microseconds...Timestamp.Span.days(1).microseconds)
                .contains(reminderInterval.microseconds)
        else { return nil }
        (self.dueSoon, self.overdueSoft, self.overduePushBack) = (dueSoon, overdueSoft, overduePushBack)
        (self.guardianReview, self.missed, self.reminderInterval) = (guardianReview, missed, reminderInterval)
    }

    /// The length of the period before an escalation step in which the step's notification replaces an earlier one of
    /// the nag that is not sent yet: five seconds, or 1/180 of the reminder interval if that is shorter.
    public var replacementLead: Timestamp.Span {
        min(.seconds(5), Timestamp.Span(microseconds: reminderInterval.microseconds / 180))
    }

    /// Returns the offset from the base of the step that follows a phase.
    public func offsetOfStep(after phase: EscalationPhase) -> Timestamp.Span {
        switch phase {
        case .initial: dueSoon
        case .dueSoon: overdueSoft
        case .overdueSoft: overduePushBack
        case .overdueBoundedPushBack: guardianReview
        case .guardianReview: missed
        }
    }

    /// Returns the earliest time of the step that follows a phase, whatever the recipient's preferences. Quiet hours
    /// can only delay it.
    public func earliestStepTime(
        after phase: EscalationPhase, dueAt: Timestamp, committedAt: Timestamp?
    ) -> Timestamp {
        min(dueAt, committedAt ?? dueAt) + offsetOfStep(after: phase)
    }
}

extension EscalationPhase {
    /// The number of the phase, 0 to 4, as stored in the database.
    public var number: Int {
        switch self {
        case .initial: 0
        case .dueSoon: 1
        case .overdueSoft: 2
        case .overdueBoundedPushBack: 3
        case .guardianReview: 4
        }
    }

    /// Creates the phase with a number; nil unless it is 0 to 4.
    public init?(number: Int) {
        guard let phase = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = phase
    }
}
