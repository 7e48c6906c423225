/// The day and wall-clock time of the first instance of a series.
///
/// If a month has no 31st, or a night no 02:30, one instance is moved, and the next one returns to the anchor.
public struct RecurrenceAnchor: Hashable, Sendable {
    public let date: CivilDate
    public let time: TimeOfDay

    public init(date: CivilDate, time: TimeOfDay) {
        self.date = date
        self.time = time
    }

    /// Creates the anchor of a series whose first instance is due at a moment.
    public init(firstDue: Timestamp, in zone: some ZoneRules) {
        let local = zone.local(firstDue)
        self.init(date: local.date, time: local.time)
    }
}

extension Recurrence {
    /// Returns the due time of the next instance: the first one after both `previous` and `now`; nil after the year
    /// 9999. Instances between them are skipped, so a long pause causes no burst.
    ///
    /// Minutes and hours count absolute time from the previous due time. Days, weeks and months keep the wall-clock
    /// time of the family's zone.
    public func nextDue(
        after previous: Timestamp, now: Timestamp, anchor: RecurrenceAnchor, in zone: some ZoneRules
    ) -> Timestamp? {
        let floor = max(previous, now)
        let next: Timestamp? =
            switch self {
            case .every5Minutes, .every15Minutes, .every30Minutes, .hourly:
                fixedInterval.map { Self.firstFixedDueTime(every: $0, from: previous, after: floor) }
            case .daily: Self.firstDueTime(everyDays: 1, after: floor, anchor: anchor, in: zone)
            case .weekly: Self.firstDueTime(everyDays: 7, after: floor, anchor: anchor, in: zone)
            case .monthly: Self.firstMonthlyDueTime(after: floor, anchor: anchor, in: zone)
            }
        return next.flatMap { $0 <= .lastSecond ? $0 : nil }
    }

    /// The interval of a series that counts absolute time; nil for one of local days, weeks or months.
    var fixedInterval: Timestamp.Span? {
        switch self {
        case .every5Minutes: .minutes(5)
        case .every15Minutes: .minutes(15)
        case .every30Minutes: .minutes(30)
        case .hourly: .hours(1)
        case .daily, .weekly, .monthly: nil
        }
    }

    private static func firstFixedDueTime(
        every length: Timestamp.Span, from previous: Timestamp, after floor: Timestamp
    ) -> Timestamp {
        let steps = floorDivide((floor - previous).microseconds, length.microseconds) + 1
        return previous + Timestamp.Span(microseconds: steps * length.microseconds)
    }

    private static func firstDueTime(
        everyDays length: Int64, after floor: Timestamp, anchor: RecurrenceAnchor, in zone: some ZoneRules
    ) -> Timestamp? {
        let first = anchor.date.daysSinceEpoch
        let today = zone.local(floor).date.daysSinceEpoch
        // The search begins with the instance on or before yesterday, so it needs at most three tries.
        var day = first + floorDivide(today - 1 - first, length) * length
        while day <= lastDay {
            let due = zone.moment(CivilDate(daysSinceEpoch: day), anchor.time)
            if due > floor { return due }
            day += length
        }
        return nil
    }

    private static func firstMonthlyDueTime(
        after floor: Timestamp, anchor: RecurrenceAnchor, in zone: some ZoneRules
    ) -> Timestamp? {
        let today = zone.local(floor).date
        var monthsSinceYear0 = max(12, today.monthsSinceYear0 - 1)
        while let date = CivilDate(monthsSinceYear0: monthsSinceYear0, day: anchor.date.day) {
            let due = zone.moment(date, anchor.time)
            if due > floor { return due }
            monthsSinceYear0 += 1
        }
        return nil
    }

    /// 9999-12-31, in days since 1970-01-01.
    private static let lastDay: Int64 = 2_932_896
}
