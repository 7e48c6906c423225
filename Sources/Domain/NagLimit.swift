/// The limits on creating, changing, completing and postponing nags, and on notes and excuses.
public enum NagLimit {
    /// Returns the reason why one more nag of this creator is refused on the family's local day
    /// (`ZoneRules.day(containing:)`); nil when it is allowed.
    public static func denialOfCreation(sentToday: Int, policy: FamilyPolicy) -> Denial? {
        sentToday >= policy.dailyNagCap ? .dailyCapReached : nil
    }

    /// The maximum number of notes that a person may add to nags on one local day of the family.
    public static let notesPerDay = 50

    /// Returns the reason why one more note is refused; nil when it is allowed.
    public static func denialOfNote(addedToday: Int) -> Denial? {
        addedToday >= notesPerDay ? .dailyNoteLimitReached : nil
    }

    /// The maximum number of excuses that a person may submit on one local day of the family.
    public static let excusesPerDay = 50

    /// Returns the reason why one more excuse is refused; nil when it is allowed.
    public static func denialOfExcuse(submittedToday: Int) -> Denial? {
        submittedToday >= excusesPerDay ? .dailyExcuseLimitReached : nil
    }

    /// The maximum number of changes to nags that a person may make on one local day of the family: edits, commitments,
    /// snoozes, dismissals and their reversals. Completing and withdrawing do not count; for a series see
    /// `seriesCompletionsPerDay`.
    public static let changesPerDay = 200

    /// Returns the reason why one more change is refused; nil when it is allowed.
    public static func denialOfChange(madeToday: Int) -> Denial? {
        madeToday >= changesPerDay ? .dailyChangeLimitReached : nil
    }

    /// The number of nags that a person may complete on one local day of the family before their completions in a
    /// series are refused, because each of those creates the next nag. It allows one every five minutes, day and night.
    public static let seriesCompletionsPerDay = 300

    /// Returns the reason why one more completion in a series is refused; nil when it is allowed.
    public static func denialOfSeriesCompletion(completedToday: Int) -> Denial? {
        completedToday >= seriesCompletionsPerDay ? .dailyCompletionLimitReached : nil
    }

    /// Returns the period of a daily limit: the family's local day, or at least the last 24 hours if the family's zone
    /// was changed within them, so that a change of zone never resets a limit.
    /// - Parameter day: the family's local day.
    public static func countedPeriod(
        _ day: Range<Timestamp>, now: Timestamp, zoneChangedAt changed: Timestamp?
    ) -> Range<Timestamp> {
        guard let changed, changed > now - .days(1) else { return day }
        return min(day.lowerBound, now - .days(1))..<day.upperBound
    }

    /// Returns a sentence for the person who reached a daily limit: when it is reset, or that the last 24 hours count.
    public static func resetSentence(in zone: String, now: Timestamp, zoneChangedAt changed: Timestamp?) -> String {
        guard let changed, changed > now - .days(1) else { return "You can go on at midnight (\(zone))." }
        return "The last 24 hours count, because the family's time zone was changed."
    }

    /// Returns the latest due time that one snooze may set: the allowed minutes after the due time, or after now if the
    /// nag is overdue.
    public static func latestSnoozedDueTime(dueAt: Timestamp, now: Timestamp, policy: FamilyPolicy) -> Timestamp {
        max(dueAt, now) + .minutes(Int64(policy.maxSnoozeMinutes))
    }

    /// Returns the reason why the recipient may not snooze the nag to the new due time; nil when they may. `allowance`
    /// is a child's setting; nil for everyone else.
    public static func denialOfSnooze(
        from dueAt: Timestamp, to newDueAt: Timestamp, now: Timestamp, policy: FamilyPolicy,
        allowance: SnoozeAllowance? = nil
    ) -> Denial? {
        if let allowance {
            guard allowance.isAllowed else { return .snoozeNotAllowed }
            guard allowance.usedToday < allowance.perDay else { return .dailySnoozeLimitReached }
        }
        guard newDueAt > dueAt, newDueAt > now else { return .snoozeNotLater }
        return newDueAt > latestSnoozedDueTime(dueAt: dueAt, now: now, policy: policy) ? .snoozeTooLong : nil
    }
}

/// The number of snoozes that a guardian allows a child each day, and how many of them are used today.
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
