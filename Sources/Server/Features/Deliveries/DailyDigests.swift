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

    /// Makes the digests that are due.
    /// - Returns: whether more digests may be due.
    func make(at now: Timestamp) async throws -> Bool {
        let rows = try await services.database.query(PreferenceStatements.digestsDue(at: now, limit: Self.batchSize))
        for row in rows {
            let turn = try StoredDigestTurn(row)
            _ = try await services.database.query(statement(of: turn, at: now))
        }
        return rows.count == Self.batchSize
    }

    private func statement(of turn: StoredDigestTurn, at now: Timestamp) -> SQL {
        let preferences = turn.stored.effective(familyZone: turn.timeZone)
        guard preferences.notificationFrequency == .dailyDigest else {
            return PreferenceStatements.moveDigest(turn, to: nil, madeOn: nil)
        }
        let decision = DigestTurn(
            at: preferences.digestAt, last: turn.lastDigestDate, now: now,
            zone: services.zones.zone(preferences.timeZone))
        let scheduleMove = PreferenceStatements.moveDigest(
            turn, to: decision.nextCheck, madeOn: turn.isMember ? decision.dueDate : nil)
        guard turn.isMember, let date = decision.dueDate else { return scheduleMove }
        return DeliveryStatements.insertDigest(
            DeliveryIDs(services.random, at: now), on: date, to: turn.userID, with: scheduleMove, at: now)
    }
}
