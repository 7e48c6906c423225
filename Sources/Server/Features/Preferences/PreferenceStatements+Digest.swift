import Domain
import Postgres
import SQL

/// The stored schedule of a person's daily digest, as of one moment.
struct DigestSchedule {
    let familyID: FamilyID
    let userID: UserID
    let stored: StoredPreferences
    let familyZone: String
    let isMember: Bool
    /// The last date whose digest was made or skipped; nil for none.
    let lastDigestDate: CivilDate?
    /// The version of the schedule and the preferences. `moveDigest` changes nothing if this is no longer the
    /// current version.
    fileprivate let version: (changeSeq: Int64, nextAt: Timestamp)

    /// Reads a row of `PreferenceStatements.dueDigestSchedules`.
    init(_ row: Row) throws(PostgresError) {
        familyID = try row["family_id"]
        userID = try row["user_id"]
        stored = try row["prefs"]
        familyZone = try row["time_zone"]
        isMember = try row["is_member"]
        let lastDay: Int64? = try row["last_digest_day"]
        lastDigestDate = lastDay.map { CivilDate(daysSinceEpoch: $0) }
        version = (try row["changed_by"], try row["next_digest_at"])
    }
}

/// Statements on when people get their daily digests.
extension PreferenceStatements {
    /// Reads the schedules that have been due longest: those with a due digest, and those whose settings have changed.
    static func dueDigestSchedules(at now: Timestamp, limit: Int) -> SQL {
        """
        SELECT p.family_id, p.user_id, p.prefs, p.changed_by, p.next_digest_at,
               (p.last_digest_on - DATE '1970-01-01')::bigint AS last_digest_day,
               f.time_zone, coalesce(m.status = 'active', false) AS is_member
        FROM preferences p JOIN families f ON f.id = p.family_id
        LEFT JOIN memberships m ON m.family_id = p.family_id AND m.user_id = p.user_id
        WHERE p.next_digest_at <= \(now)
        ORDER BY p.next_digest_at LIMIT \(limit)
        """
    }

    /// Moves a schedule to the next digest, unless anything has changed since it was read. Returns the row if it was
    /// moved.
    /// - Parameters:
    ///   - next: the time of the next digest; nil for somebody who no longer wants digests.
    ///   - date: the date of the digest that is made; nil for none.
    static func moveDigest(_ schedule: DigestSchedule, to next: Timestamp?, madeOn date: CivilDate?) -> SQL {
        """
        UPDATE preferences SET next_digest_at = \(next),
            last_digest_on = coalesce(\(date?.description)::date, last_digest_on)
        WHERE family_id = \(schedule.familyID) AND user_id = \(schedule.userID)
            AND changed_by = \(schedule.version.changeSeq) AND next_digest_at = \(schedule.version.nextAt)
        RETURNING family_id, user_id
        """
    }

    /// Part of an act: makes the scheduler recompute the digest times of a family, because its time zone has changed.
    static func makeDigestsDue(at now: Timestamp) -> SQL {
        """
        UPDATE preferences SET next_digest_at = least(preferences.next_digest_at, \(now)) FROM ledger_stamp
        WHERE preferences.family_id = ledger_stamp.family_id AND preferences.next_digest_at IS NOT NULL
        """
    }
}
