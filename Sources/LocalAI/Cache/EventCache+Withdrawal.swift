import Contract
import Domain
import DomainSQL
import SQL
import SQLite

// The end of the consent `ai_mediation` on a device.
extension EventCache {
    /// Records that the consent has ended, and marks the answers that this device has given since the latest sync,
    /// because the consent may have ended before any of them.
    /// - Returns: the number of marked answers; nil if the consent was not given as far as the device knew.
    public func recordConsentWithdrawal(of family: FamilyID) throws -> Int? {
        try database.transaction { try markConsentWithdrawn(of: family) }
    }

    /// Records the end of the consent as `recordConsentWithdrawal` does, within a transaction of the caller.
    func markConsentWithdrawn(of family: FamilyID) throws(SQLiteError) -> Int? {
        guard let known = try cachedFamily(family), known.allowsMediation != false else { return nil }
        try database.run("UPDATE families SET allows_mediation = 0 WHERE key = \(known.key)")
        guard known.allowsMediation == true else { return nil }
        let since = known.syncedAt ?? .epoch
        try database.run(
            """
            UPDATE executions SET is_after_withdrawal = 1
            WHERE family = \(known.key) AND at > \(since) AND NOT is_error
            """)
        return try database.first("SELECT changes() AS count") { row throws(SQLiteError) in try row["count"] }
    }

    /// The warning in the record of an answer that may be later than the end of the consent.
    static let withdrawalWarning =
        "The consent ai_mediation was withdrawn; this device gave this answer before it heard of that"
}
