import Contract
import Domain
import DomainSQL
import SQL
import SQLite

// The end of the consent `ai_mediation`, as a device comes to know of it.
extension EventCache {
    /// Records that the consent is no longer in force, and marks the answers that this device has given since it last
    /// knew that the consent was in force: any of them may have come after its end.
    /// - Returns: the number of marked answers; nil if the device already knew that the consent had ended.
    public func noteWithdrawal(of family: FamilyID) throws -> Int? {
        try database.transaction { try withdraw(family) }
    }

    func withdraw(_ family: FamilyID) throws(SQLiteError) -> Int? {
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

    /// The mark of such an answer, among its warnings.
    static let withdrawalMark =
        "The consent ai_mediation was withdrawn; this device gave this answer before it heard of that"
}
