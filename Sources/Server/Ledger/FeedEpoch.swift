import Domain
import Postgres
import SQL

/// The epoch of the families' feeds. A feed does not accept a position of another epoch: then its reader starts from
/// the beginning.
///
/// A restored database lacks changes that devices have already read. Without a new epoch, devices would continue from
/// their position and keep rows that the server no longer has. So an operator begins a new epoch after a restore. The
/// epoch's number is the time of its beginning in seconds since 1970, rounded up. It is higher if the family has a
/// later write or epoch already. The first epoch has the number 1.
public enum FeedEpoch {
    /// Begins a new epoch in all families, as the schema's owner, in one transaction.
    /// - Returns: the number of families and connections whose feeds began the epoch.
    @discardableResult
    public static func begin(databaseURL: String) async throws -> Int {
        try await Schema.withDatabase(databaseURL) { database in
            try await database.query(
                """
                WITH begun AS (
                    UPDATE family_clock
                    SET epoch = greatest(epoch + 1, ceil(extract(epoch FROM greatest(clock_timestamp(), ts)))::bigint)
                    WHERE family_id <> \(FamilyID.outside) RETURNING 1
                )
                SELECT count(*)::bigint AS families FROM begun
                """
            ).onlyRow()["families"]
        }
    }

    /// Counts the `families` with at least one write, and those whose epoch is `older` than their newest write.
    static let counts: SQL = """
        SELECT count(*)::bigint AS families, count(*) FILTER (WHERE epoch < extract(epoch FROM ts))::bigint AS older
        FROM family_clock WHERE seq > 0 AND family_id <> \(FamilyID.outside)
        """
}
