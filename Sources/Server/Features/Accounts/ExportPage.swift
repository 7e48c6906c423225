import Domain
import SQL

/// The rows of a section of an account's export to read: `limit` at most, whose `id` is after the last one.
///
/// Every statement of a section returns rows with an `id`, in whose order it reads, and the row as `json` text.
struct ExportPage {
    let user: UserID
    let after: ResourceID
    let limit: Int

    /// An expression: a moment as the API writes it. `column` is an SQL expression.
    static func moment(_ column: SQL) -> SQL {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
    }
}
