extension Recurrence {
    /// The moment from which an instance of a series can be completed: the due time of the instance before it, or its
    /// own due time minus the series' interval if that is later; but no later than a day, for series of less than a day
    /// half an interval, before its own due time.
    /// - Parameter previous: the due time of the instance before it; nil for the first one.
    public func openingTime(
        of dueAt: Timestamp, after previous: Timestamp?, in zone: some ZoneRules
    ) -> Timestamp {
        let start = intervalStart(before: dueAt, in: zone)
        return min(max(previous ?? start, start), dueAt - shortestLead)
    }

    /// The earliest due time to which an instance can be moved: half a day, for series of less than a day half an
    /// interval, after the time that the series gave to the instance before it. So nobody can gather a series'
    /// instances in one hour by moving each to the present.
    public func earliestMove(after previous: Timestamp) -> Timestamp {
        previous + Timestamp.Span(microseconds: min(Timestamp.Span.hours(12), halfInterval).microseconds)
    }

    /// The shortest time before its due time for which an instance is open.
    private var shortestLead: Timestamp.Span { fixedInterval == nil ? .days(1) : halfInterval }

    private var halfInterval: Timestamp.Span {
        Timestamp.Span(microseconds: (fixedInterval ?? .days(1)).microseconds / 2)
    }

    /// The due time that an instance one interval earlier would have.
    private func intervalStart(before dueAt: Timestamp, in zone: some ZoneRules) -> Timestamp {
        if let fixedInterval { return dueAt - fixedInterval }
        let (date, time) = zone.local(dueAt)
        return zone.moment(day(before: date), time)
    }

    private func day(before date: CivilDate) -> CivilDate {
        switch self {
        case .every5Minutes, .every15Minutes, .every30Minutes, .hourly, .daily: date.adding(days: -1)
        case .weekly: date.adding(days: -7)
        case .monthly: date.adding(months: -1) ?? date.adding(days: -31)
        }
    }
}
