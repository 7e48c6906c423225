extension ZoneRules {
    /// Returns the local day that contains `moment`, up to the start of the next day. It has 23 or 25 hours when the
    /// clocks change.
    public func day(containing moment: Timestamp) -> Range<Timestamp> {
        let today = local(moment).date.daysSinceEpoch
        return days(from: today, count: 1)
    }

    /// Returns the local week that contains `moment`, Monday to Sunday.
    public func week(containing moment: Timestamp) -> Range<Timestamp> {
        let date = local(moment).date
        return days(from: date.daysSinceEpoch - Int64(date.weekday.daysAfterMonday), count: 7)
    }

    /// Returns the starts of the local week that contains `moment` and of the weeks before it, oldest first.
    public func weekStarts(upTo moment: Timestamp, count: Int) -> [Timestamp] {
        let date = local(moment).date
        let monday = date.daysSinceEpoch - Int64(date.weekday.daysAfterMonday)
        return (0..<count).reversed().map { weeks in
            self.moment(CivilDate(daysSinceEpoch: monday - 7 * Int64(weeks)), .midnight)
        }
    }

    /// Returns the period of several local days.
    /// - Parameter first: the first day, in days since 1970-01-01.
    private func days(from first: Int64, count: Int64) -> Range<Timestamp> {
        let start = moment(CivilDate(daysSinceEpoch: first), .midnight)
        let end = moment(CivilDate(daysSinceEpoch: first + count), .midnight)
        return start..<max(start, end)
    }

    /// Returns the first second after `early` from which the zone has the offset that it has at `late`.
    ///
    /// `early` and `late` count seconds since the epoch. Between them there may be at most one clock change.
    func clockChange(after early: Int64, upTo late: Int64) -> Int64 {
        let offset = secondsFromUTC(at: Timestamp(seconds: late))
        var (before, after) = (early, late)
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if secondsFromUTC(at: Timestamp(seconds: middle)) == offset { after = middle } else { before = middle }
        }
        return after
    }
}

extension Weekday {
    /// The number of days after Monday: 0 for Monday … 6 for Sunday.
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
