/// The decision whether a person's daily digest is due. It is due once for each date in the person's zone, from a
/// chosen time of day on.
public struct DigestDecision: Hashable, Sendable {
    /// The date whose digest is due now; nil if today's digest is not due yet, or was made or skipped.
    public let dueDate: CivilDate?
    /// The time at which to check again, which is later than `now`.
    public let nextCheck: Timestamp

    /// - Parameters:
    ///   - time: the time of day that the person chose.
    ///   - last: the last date whose digest was made or skipped; nil for none.
    public init(at time: TimeOfDay, last: CivilDate?, now: Timestamp, zone: some ZoneRules) {
        let today = zone.local(now).date
        let moment = zone.moment(today, time)
        let last = last.map { max($0, today.adding(days: -1)) } ?? today.adding(days: -1)
        dueDate = last < today && moment <= now ? today : nil
        nextCheck = last < today && moment > now ? moment : zone.moment(max(last, today).adding(days: 1), time)
    }

    /// Returns the date that gets no digest because a person turns digests on too late for it: today, if the time of
    /// day has passed; otherwise nil.
    public static func skippedDate(at time: TimeOfDay, now: Timestamp, zone: some ZoneRules) -> CivilDate? {
        let today = zone.local(now).date
        return zone.moment(today, time) <= now ? today : nil
    }
}
