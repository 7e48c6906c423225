import Contract
import Domain
import DomainSQL
import JSON
import NagzAI
import SQL
import SQLite

// The device's own history: the questions that it answered or refused by itself, without the words of questions and
// answers.
extension EventCache {
    /// Adds a record, and deletes records that are older than the person's retention. If the person keeps only
    /// questions without an answer, the record of an answer is not added, and those stored before are deleted.
    public func store(_ record: ExecutionRecord) throws {
        try database.transaction {
            let choices = try choices(of: record.familyID)
            let isError = record.errorCode != nil
            try database.run("INSERT INTO families (id) VALUES (\(record.familyID)) ON CONFLICT DO NOTHING")
            if isError || !choices.logsErrorsOnly {
                let text = String(decoding: record.jsonBytes, as: UTF8.self)
                try database.run(
                    """
                    INSERT INTO executions (family, id, at, is_error, record)
                    SELECT key, \(record.id), \(record.createdAt), \(isError),
                           \(seal.seal(text, .executionRecord, record.id)) FROM families
                    WHERE id = \(record.familyID)
                    """)
            }
            try database.run(
                """
                DELETE FROM executions WHERE family = (SELECT key FROM families WHERE id = \(record.familyID))
                    AND (at < \(record.createdAt - .days(Int64(choices.logRetentionDays)))
                        OR (\(choices.logsErrorsOnly) AND NOT is_error))
                """)
        }
    }

    /// Returns the records of a family within the person's retention, newest first.
    public func deviceExecutions(
        of family: FamilyID, errorsOnly: Bool = false, limit: Int, at now: Timestamp
    ) throws(SQLiteError) -> [ExecutionRecord] {
        let oldest = now - .days(Int64(try choices(of: family).logRetentionDays))
        return try database.rows(
            """
            SELECT e.id, e.record, e.is_after_withdrawal FROM families f JOIN executions e ON e.family = f.key
            WHERE f.id = \(family) AND e.at >= \(oldest) AND (NOT \(errorsOnly) OR e.is_error)
            ORDER BY e.at DESC, e.id DESC LIMIT \(limit)
            """
        ) { row throws(SQLiteError) in
            let id: ExecutionID = try row["id"]
            var record: ExecutionRecord = try Self.parse(
                try seal.open(try row["record"], .executionRecord, id), "a record of the history")
            if try row["is_after_withdrawal"] { record.execution.warnings.append(Self.withdrawalWarning) }
            return record
        }
    }
}
