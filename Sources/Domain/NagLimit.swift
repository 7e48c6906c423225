/// The limits on making, changing and postponing nags.
public enum NagLimit {
    /// Why one more nag is refused to a creator who already sent that many on the family's local day
    /// (`ZoneRules.day(containing:)` of the family's zone).
    public static func denialOfCreation(sentToday: Int, policy: FamilyPolicy) -> Denial? {
        sentToday >= policy.dailyCap ? .dailyCapReached : nil
    }

    /// How many notes a person may add to nags on one of the family's local days.
    public static let notesPerDay = 50

    /// Why one more note is refused to somebody who already added that many on the family's local day.
    public static func denialOfNote(addedToday: Int) -> Denial? {
        addedToday >= notesPerDay ? .noteLimitReached : nil
    }

    /// How many excuses a person may submit on one of the family's local days.
    public static let excusesPerDay = 50

    /// Why one more excuse is refused to somebody who already submitted that many on the family's local day.
    public static func denialOfExcuse(submittedToday: Int) -> Denial? {
        submittedToday >= excusesPerDay ? .excuseLimitReached : nil
    }

    /// How many changes to nags a person may make on one of the family's local days: edits, promises, snoozes, dismissals and
    /// their opposites. What a nag can be only once (completed, withdrawn) does not count; for a series see
    /// `seriesCompletionsPerDay`.
    public static let changesPerDay = 200

    /// Why one more change is refused to somebody who already made that many on the family's local day.
    public static func denialOfChange(madeToday: Int) -> Denial? {
        madeToday >= changesPerDay ? .changeLimitReached : nil
    }

    /// How many nags a person may complete on one of the family's local days before those of a series are refused: each
    /// completion makes the next nag of the series. More than one every five minutes around the clock.
    public static let seriesCompletionsPerDay = 300

    /// Why one more completion in a series is refused to somebody who completed that many nags on the family's local day.
    public static func denialOfSeriesCompletion(completedToday: Int) -> Denial? {
        completedToday >= seriesCompletionsPerDay ? .completionLimitReached : nil
    }

    /// The period that a daily limit counts: the family's local day, and at least 24 hours if the family's zone was
    /// changed within them, so that a change of zone never resets a limit.
    public static func countedTime(
        _ day: Range<Timestamp>, now: Timestamp, zoneChangedAt changed: Timestamp?
    ) -> Range<Timestamp> {
        guard let changed, changed > now - .days(1) else { return day }
        return min(day.lowerBound, now - .days(1))..<day.upperBound
    }

    /// The latest due moment one snooze may set: the allowed minutes past the due time, or past now for a nag that
    /// is already overdue.
    public static func latestSnooze(dueAt: Timestamp, now: Timestamp, policy: FamilyPolicy) -> Timestamp {
        max(dueAt, now) + .minutes(Int64(policy.maxSnoozeMinutes))
    }

    /// Why the recipient may not move the due time there. `allowance` is a child's setting, nil for everyone else.
    public static func denialOfSnooze(
        from dueAt: Timestamp, to newDueAt: Timestamp, now: Timestamp, policy: FamilyPolicy,
        allowance: SnoozeAllowance? = nil
    ) -> Denial? {
        if let allowance {
            guard allowance.isAllowed else { return .snoozeNotAllowed }
            guard allowance.usedToday < allowance.perDay else { return .snoozeLimitReached }
        }
        guard newDueAt > dueAt, newDueAt > now else { return .snoozeNotLater }
        return newDueAt > latestSnooze(dueAt: dueAt, now: now, policy: policy) ? .snoozeTooLong : nil
    }
}

/// What a guardian allows a child to snooze, and how much of it is used up today.
public struct SnoozeAllowance: Hashable, Sendable {
    public var isAllowed: Bool
    public var perDay: Int
    public var usedToday: Int

    public init(isAllowed: Bool, perDay: Int, usedToday: Int) {
        self.isAllowed = isAllowed
        self.perDay = perDay
        self.usedToday = usedToday
    }
}
