import Contract
import Domain
import Postgres

/// The user names of a family's children, which are compared without regard to case.
///
/// PostgreSQL 15 folds no case, so a family's few names are compared here: `Straße` is `STRASSE`.
enum ChildName {
    static func folded(_ name: String) -> String { name.uppercased().lowercased() }

    /// The row of that `username`; of two that were set before names were folded, the one in the same letters.
    static func find(_ name: String, in rows: Rows) throws(PostgresError) -> Row? {
        var found: Row?
        for row in rows.map({ $0 }) {
            let other: String = try row["username"]
            if other.lowercased() == name.lowercased() { return row }
            if folded(other) == folded(name) { found = row }
        }
        return found
    }

    /// - Throws: 409 when another child of the family has the name.
    static func requireFree(
        _ name: String, for user: UserID, in family: FamilyID, _ queries: any Queries
    ) async throws {
        let names = try await queries.query(CredentialStatements.usernames(in: family, besides: user)).map {
            row throws(PostgresError) -> String in try row["username"]
        }
        if names.contains(where: { folded($0) == folded(name) }) { throw APIError.userNameIsTaken }
    }
}
