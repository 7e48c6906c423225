import Domain
import SQL

/// Rows of one table with a person's own words, which the purge of an account erases batch by batch.
struct PersonalRows: Sendable {
    /// Selects the keys of at most `limit` rows that still have words.
    let keys: @Sendable (_ person: UserID, _ limit: Int) -> SQL
    /// Erases the words of the rows with these keys.
    let erase: @Sendable (_ keys: SQL) -> SQL
}
