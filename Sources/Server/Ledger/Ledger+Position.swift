import Domain
import Postgres
import SQL

extension Ledger {
    /// Returns the newest sequence number of a family's chain, or of the chain outside families: the basis of a
    /// decision whose other reads come after it.
    static func newestSequenceNumber(of family: FamilyID, _ queries: any Queries) async throws -> Int64 {
        try await queries.query("SELECT seq FROM family_clock WHERE family_id = \(family)").onlyRow()["seq"]
    }
}
