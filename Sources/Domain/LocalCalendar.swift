extension ZoneRules {
    /// The local day that contains `moment`, up to the start of the next day. It has 23 or 25 hours when the clocks
    /// change.
    public func day(containing moment: Timestamp) -> Range<Timestamp> {
        let today = local(moment).date.daysSinceEpoch
        return days(from: today, count: 1)
    }

    /// The local week that contains `moment`, Monday to Sunday.
    public func week(containing moment: Timestamp) -> Range<Timestamp> {
        let date = local(moment).date
        return days(from: date.daysSinceEpoch - Int64(date.weekday.daysAfterMonday), count: 7)
    }

    /// The starts of the local week that contains `moment` and of the weeks before it, `count` in all, oldest first.
    public func weekStarts(upTo moment: Timestamp, count: Int) -> [Timestamp] {
        let date = local(moment).date
        let monday = date.daysSinceEpoch - Int64(date.weekday.daysAfterMonday)
        return (0..<count).reversed().map { weeks in
            self.moment(CivilDate(daysSinceEpoch: monday - 7 * Int64(weeks)), .midnight)
        }
    }

    private func days(from first: Int64, count: Int64) -> Range<Timestamp> {
        let start = moment(CivilDate(daysSinceEpoch: first), .midnight)
        let end = moment(CivilDate(daysSinceEpoch: first + count), .midnight)
        return start..<max(start, end)
    }

    /// The first second after `early`, at or before `late`, from which the zone has the offset it has at `late`.
    ///
    /// Both are whole seconds since the epoch. The range may be a few days long and contain one clock change.
    func clockChange(after early: Int64, upTo late: Int64) -> Int64 {
        let offset = secondsFromUTC(at: Timestamp(seconds: late))
        var (before, from) = (early, late)
        while from - before > 1 {
            let middle = before + (from - before) / 2
            if secondsFromUTC(at: Timestamp(seconds: middle)) == offset { from = middle } else { before = middle }
        }
        return from
    }
}

extension Weekday {
    /// 0 for Monday … 6 for Sunday.
    public var daysAfterMonday: Int {
        switch self {
        case .monday: 0
        case .tuesday: 1
        case .wednesday: 2
        case .thursday: 3
        case .friday: 4
        case .saturday: 5
        case .sunday: 6
        }
    }
}
