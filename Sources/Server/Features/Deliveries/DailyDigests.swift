import Domain
import Postgres
import SQL
import TimeZones

/// Makes the daily digests of people who want one notification a day, for the scheduler.
///
/// A digest is one statement, which moves the person's schedule and stores the notification, or does neither. So a
/// person gets one digest for a date, even if many instances run this at the same time. The content is read when the
/// digest is sent.
final class DailyDigests {
    /// The maximum number of people whose digests one round makes.
    private static let batchSize = 200

    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Makes the digests that are due, of `batchSize` people at most.
    /// - Returns: whether more digests may be due.
    func makeBatch(at now: Timestamp) async throws -> Bool {
        let rows = try await services.database.query(
            PreferenceStatements.dueDigestSchedules(at: now, limit: Self.batchSize))
        for row in rows {
            let schedule = try DigestSchedule(row)
            _ = try await services.database.query(statement(of: schedule, at: now))
        }
        return rows.count == Self.batchSize
    }

    private func statement(of schedule: DigestSchedule, at now: Timestamp) -> SQL {
        let preferences = schedule.stored.effective(familyZone: schedule.familyZone)
        guard preferences.notificationFrequency == .dailyDigest else {
            return PreferenceStatements.moveDigest(schedule, to: nil, madeOn: nil)
        }
        let decision = DigestDecision(
            at: preferences.digestAt, last: schedule.lastDigestDate, now: now,
            zone: services.zones.zoneOrUTC(preferences.timeZone))
        let scheduleMove = PreferenceStatements.moveDigest(
            schedule, to: decision.nextCheck, madeOn: schedule.isMember ? decision.dueDate : nil)
        guard schedule.isMember, let date = decision.dueDate else { return scheduleMove }
        return DeliveryStatements.insertDigest(
            DeliveryIDs(services.random, at: now), on: date, to: schedule.userID, with: scheduleMove, at: now)
    }
}
