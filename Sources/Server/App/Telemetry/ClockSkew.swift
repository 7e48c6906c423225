import Domain
import Postgres
import SQL

/// Compares the database's clock with this machine's.
enum ClockSkew {
    /// Returns the time by which the database's clock is ahead, and the row of `source`. The error is at most half the
    /// round trip.
    /// - Parameter source: a FROM item of one row, whose columns are read as well.
    static func measure(
        _ queries: any Queries, _ clock: any WallClock, beside source: SQL = "(SELECT) nothing"
    ) async throws -> (databaseLead: Timestamp.Span, row: Row) {
        let before = clock.now()
        let row = try await queries.query("SELECT *, clock_timestamp() AS now FROM \(source)").onlyRow()
        let databaseTime: Timestamp = try row["now"]
        // The database is assumed to have read its clock in the middle of the round trip.
        let roundTrip = clock.now() - before
        return (databaseTime - (before + Timestamp.Span(microseconds: roundTrip.microseconds / 2)), row)
    }
}
