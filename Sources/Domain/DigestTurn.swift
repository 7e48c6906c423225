/// Whether a person's daily digest is due: once for each date in their zone, from a time of day on.
public struct DigestTurn: Hashable, Sendable {
    /// The date whose digest is due; nil before its time, and once it was made.
    public let dueOn: CivilDate?
    /// The time at which to check again; later than the time of this check.
    public let next: Timestamp

    /// - Parameters:
    ///   - time: the person's choice.
    ///   - last: the last date whose digest was made; nil for none.
    public init(at time: TimeOfDay, last: CivilDate?, now: Timestamp, zone: some ZoneRules) {
        let today = zone.local(now).date
        let moment = zone.moment(today, time)
        let last = last.map { max($0, today.adding(days: -1)) } ?? today.adding(days: -1)
        dueOn = last < today && moment <= now ? today : nil
        next = last < today && moment > now ? moment : zone.moment(max(last, today).adding(days: 1), time)
    }

    /// Returns the date for which a person who turns digests on needs none: today, if the time of today's digest has
    /// passed.
    public static func passed(at time: TimeOfDay, now: Timestamp, zone: some ZoneRules) -> CivilDate? {
        let today = zone.local(now).date
        return zone.moment(today, time) <= now ? today : nil
    }
}
