/// The part of every day, in wall-clock time, in which a person gets no notifications, and the escalation of nags to
/// them waits: from `start` to before `end`.
///
/// It may cross midnight. Equal times mean no quiet hours, not a whole day, so that notifications cannot be switched
/// off by accident.
public struct QuietHours: Hashable, Sendable {
    public let start: TimeOfDay
    public let end: TimeOfDay

    public init(start: TimeOfDay, end: TimeOfDay) {
        self.start = start
        self.end = end
    }

    /// The default: 22:00 to 07:00.
    public static let standard = QuietHours(start: .tenInTheEvening, end: .sevenInTheMorning)

    /// Returns whether a wall-clock time is in the quiet hours.
    public func contains(_ time: TimeOfDay) -> Bool {
        start <= end ? start <= time && time < end : start <= time || time < end
    }

    /// Returns whether a moment is in the quiet hours of a zone.
    public func contains(_ moment: Timestamp, in zone: some ZoneRules) -> Bool {
        contains(zone.local(moment).time)
    }

    /// Returns `moment` if it is outside the quiet hours; otherwise the end of the quiet hours that contain it.
    ///
    /// A clock change that skips the end of the quiet hours ends them. The result is `moment` or a whole second.
    public func firstMomentOutside(from moment: Timestamp, in zone: some ZoneRules) -> Timestamp {
        var second = moment.seconds
        // Each round passes one clock change; a day has at most one, so eight rounds are enough.
        for _ in 0..<8 {
            let time = zone.local(Timestamp(seconds: second)).time
            guard contains(time) else { break }
            let candidate = second + Int64(TimeOfDay.seconds(from: time, to: end))
            second =
                zone.hasSameOffset(second, candidate) ? candidate : zone.clockChange(after: second, upTo: candidate)
        }
        return second == moment.seconds ? moment : Timestamp(seconds: second)
    }

    /// Returns `moment` if it is outside the quiet hours; otherwise the last whole second before the quiet hours that
    /// contain it.
    public func lastMomentOutside(upTo moment: Timestamp, in zone: some ZoneRules) -> Timestamp {
        var second = moment.seconds
        for _ in 0..<8 {
            let time = zone.local(Timestamp(seconds: second)).time
            guard contains(time) else { break }
            let candidate = second - Int64(TimeOfDay.seconds(from: start, to: time)) - 1
            second =
                zone.hasSameOffset(candidate, second)
                ? candidate : zone.clockChange(after: candidate, upTo: second) - 1
        }
        return second == moment.seconds ? moment : Timestamp(seconds: second)
    }
}

extension TimeOfDay {
    static let sevenInTheMorning = TimeOfDay(secondsSinceMidnight: 7 * 3_600) ?? .midnight
    static let sixInTheEvening = TimeOfDay(secondsSinceMidnight: 18 * 3_600) ?? .midnight
    static let tenInTheEvening = TimeOfDay(secondsSinceMidnight: 22 * 3_600) ?? .midnight

    /// Returns the seconds from one wall-clock time to the next occurrence of another; 0 if they are equal.
    static func seconds(from: TimeOfDay, to: TimeOfDay) -> Int {
        let difference = to.secondsSinceMidnight - from.secondsSinceMidnight
        return difference < 0 ? difference + 86_400 : difference
    }
}

extension ZoneRules {
    /// Returns whether the zone has the same offset at two times, in seconds since the epoch.
    fileprivate func hasSameOffset(_ left: Int64, _ right: Int64) -> Bool {
        secondsFromUTC(at: Timestamp(seconds: left)) == secondsFromUTC(at: Timestamp(seconds: right))
    }
}
