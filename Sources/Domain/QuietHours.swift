/// The part of every day in which a person is left in peace, by the wall clock: from `start`, up to but not at `end`.
///
/// It may cross midnight. Equal ends mean no quiet hours at all, not a whole quiet day: nobody switches reminders off
/// for good by accident.
public struct QuietHours: Hashable, Sendable {
    public let start: TimeOfDay
    public let end: TimeOfDay

    public init(start: TimeOfDay, end: TimeOfDay) {
        self.start = start
        self.end = end
    }

    /// 22:00–07:00.
    public static let standard = QuietHours(start: .tenInTheEvening, end: .sevenInTheMorning)

    /// Whether that wall-clock time is quiet.
    public func contains(_ time: TimeOfDay) -> Bool {
        start <= end ? start <= time && time < end : start <= time || time < end
    }

    /// Whether the wall clock of that zone shows a quiet time at that moment.
    public func contains(_ moment: Timestamp, in zone: some ZoneRules) -> Bool {
        contains(zone.local(moment).time)
    }

    /// When the quiet around `moment` is over; `moment` itself when it is not quiet.
    ///
    /// Exact across clock changes: a change that jumps out of the quiet hours ends them. The result is a whole second
    /// unless it is `moment`.
    public func end(after moment: Timestamp, in zone: some ZoneRules) -> Timestamp {
        var second = moment.seconds
        // Each round passes one clock change; a day has at most one, so the bound is never what stops it.
        for _ in 0..<8 {
            let time = zone.local(Timestamp(seconds: second)).time
            guard contains(time) else { break }
            let reached = second + Int64(TimeOfDay.seconds(from: time, to: end))
            second = zone.hasSameOffset(second, reached) ? reached : zone.clockChange(after: second, upTo: reached)
        }
        return second == moment.seconds ? moment : Timestamp(seconds: second)
    }

    /// The last whole second before the quiet around `moment` began; `moment` itself when it is not quiet.
    public func lastMoment(before moment: Timestamp, in zone: some ZoneRules) -> Timestamp {
        var second = moment.seconds
        for _ in 0..<8 {
            let time = zone.local(Timestamp(seconds: second)).time
            guard contains(time) else { break }
            let reached = second - Int64(TimeOfDay.seconds(from: start, to: time)) - 1
            second =
                zone.hasSameOffset(reached, second)
                ? reached : zone.clockChange(after: reached, upTo: second) - 1
        }
        return second == moment.seconds ? moment : Timestamp(seconds: second)
    }
}

extension TimeOfDay {
    static let sevenInTheMorning = TimeOfDay(secondsSinceMidnight: 7 * 3_600) ?? .midnight
    static let tenInTheEvening = TimeOfDay(secondsSinceMidnight: 22 * 3_600) ?? .midnight

    /// How long the clock takes from one time to the next showing of another, 0 when they are equal.
    static func seconds(from: TimeOfDay, to: TimeOfDay) -> Int {
        let difference = to.secondsSinceMidnight - from.secondsSinceMidnight
        return difference < 0 ? difference + 86_400 : difference
    }
}

extension ZoneRules {
    fileprivate func hasSameOffset(_ left: Int64, _ right: Int64) -> Bool {
        secondsFromUTC(at: Timestamp(seconds: left)) == secondsFromUTC(at: Timestamp(seconds: right))
    }
}
