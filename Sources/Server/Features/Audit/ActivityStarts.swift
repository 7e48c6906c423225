import Contract
import Domain

extension ZoneRules {
    /// Returns the starts of the minutes, hours, days, weeks or months of a zone in a time range, beginning with the
    /// one that contains `from`.
    ///
    /// They are computed with this process's zone rules, because PostgreSQL may not know the zone's name.
    func starts(of unit: AuditActivity.Unit, from: Timestamp, to: Timestamp) -> [Timestamp] {
        switch unit {
        case .minute: fixedLengthStarts(of: 60, from, to)
        case .hour: fixedLengthStarts(of: 3_600, from, to)
        case .day: calendarStarts(from, to, first: \.self) { CivilDate(daysSinceEpoch: $0.daysSinceEpoch + 1) }
        case .week:
            calendarStarts(from, to) { date in
                CivilDate(daysSinceEpoch: date.daysSinceEpoch - Int64(date.weekday.daysAfterMonday))
            } next: {
                CivilDate(daysSinceEpoch: $0.daysSinceEpoch + 7)
            }
        case .month:
            calendarStarts(from, to) { date in
                CivilDate(daysSinceEpoch: date.daysSinceEpoch - Int64(date.day - 1))
            } next: {
                CivilDate(
                    daysSinceEpoch: $0.daysSinceEpoch + Int64(CivilDate.daysInMonth(year: $0.year, month: $0.month)))
            }
        }
    }

    /// Returns the starts of minutes or hours, which have the same length everywhere; only the first start depends on
    /// the zone.
    private func fixedLengthStarts(of seconds: Int64, _ from: Timestamp, _ to: Timestamp) -> [Timestamp] {
        let offset = Int64(secondsFromUTC(at: from))
        let first = floorDivide(from.seconds + offset, seconds) * seconds - offset
        return stride(from: first, through: floorDivide(to.microseconds - 1, 1_000_000), by: Int(seconds)).map {
            Timestamp(seconds: $0)
        }
    }

    /// Returns the starts of days, weeks or months, whose lengths vary where clocks are changed.
    private func calendarStarts(
        _ from: Timestamp, _ to: Timestamp, first: (CivilDate) -> CivilDate, next: (CivilDate) -> CivilDate
    ) -> [Timestamp] {
        var date = first(local(from).date)
        var starts: [Timestamp] = []
        while case let start = moment(date, .midnight), start < to || starts.isEmpty {
            starts.append(start)
            date = next(date)
        }
        return starts
    }
}
