import Contract
import Domain
import DomainSQL
import SQL
import SQLite

// The end of the consent `ai_mediation`, as a device comes to know of it.
extension EventCache {
    /// Records that the consent is not in force any more, and marks what this device answered since it last heard that it
    /// was: nobody can say from when on it should not have.
    /// - Returns: how many answers were marked; nil if the device knew that the consent had ended.
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
