extension Recurrence {
    /// Returns the moment from which an instance of a series can be completed: the due time of the previous instance,
    /// or one interval before its own due time if that is later. It is at least a day before its own due time, or half
    /// an interval for series of less than a day.
    /// - Parameter previous: the due time of the previous instance; nil for the first one.
    public func openingTime(
        of dueAt: Timestamp, after previous: Timestamp?, in zone: some ZoneRules
    ) -> Timestamp {
        let start = intervalStart(before: dueAt, in: zone)
        return min(max(previous ?? start, start), dueAt - minLead)
    }

    /// Returns the earliest due time to which an instance can be moved, so that nobody can complete many instances at
    /// once by moving each to the present. It is half a day after the previous instance's time in the series, or half
    /// an interval for series of less than a day.
    public func earliestMovedDueTime(after previous: Timestamp) -> Timestamp {
        previous + halfInterval
    }

    /// The minimum time between the opening of an instance and its due time.
    private var minLead: Timestamp.Span { fixedInterval == nil ? .days(1) : halfInterval }

    /// Half of a fixed interval; half a day for series of local days, weeks or months.
    private var halfInterval: Timestamp.Span {
        Timestamp.Span(microseconds: (fixedInterval ?? .days(1)).microseconds / 2)
    }

    /// Returns the due time that an instance one interval earlier would have.
    private func intervalStart(before dueAt: Timestamp, in zone: some ZoneRules) -> Timestamp {
        if let fixedInterval { return dueAt - fixedInterval }
        let (date, time) = zone.local(dueAt)
        return zone.moment(dayOneInterval(before: date), time)
    }

    private func dayOneInterval(before date: CivilDate) -> CivilDate {
        switch self {
        case .every5Minutes, .every15Minutes, .every30Minutes, .hourly, .daily: date.adding(days: -1)
        case .weekly: date.adding(days: -7)
        case .monthly: date.adding(months: -1) ?? date.adding(days: -31)
        }
    }
}
