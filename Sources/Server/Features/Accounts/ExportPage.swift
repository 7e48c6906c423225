import Domain
import SQL

/// A page of one section of an account's export: at most `limit` rows, whose `id` is greater than `after`.
///
/// The statement of each section selects `id` and the row as JSON text, `json`, in the order of `id`.
struct ExportPage {
    let user: UserID
    let after: ResourceID
    let limit: Int

    /// An expression: a time in the format of the API. `column` is an SQL expression.
    static func moment(_ column: SQL) -> SQL {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
    }
}
