import Contract
import Domain
import Postgres

/// The user names of a family's children, which are compared without regard to case.
///
/// PostgreSQL 15 has no case folding, so a family's few names are compared here: `Straße` equals `STRASSE`.
enum ChildUsername {
    /// Returns the form of a name that is the same for all its spellings in upper and lower case.
    static func folded(_ name: String) -> String { name.uppercased().lowercased() }

    /// Returns the row with that `username`; nil without one. Names that were set before names were folded can have the
    /// same folded form. Then the result is the one that equals the wanted name in lower case.
    static func find(_ name: String, in rows: Rows) throws(PostgresError) -> Row? {
        var found: Row?
        for row in rows.map({ $0 }) {
            let other: String = try row["username"]
            if other.lowercased() == name.lowercased() { return row }
            if folded(other) == folded(name) { found = row }
        }
        return found
    }

    /// Requires that no other child of the family has the name.
    /// - Throws: 409 if one has it.
    static func requireFree(
        _ name: String, for user: UserID, in family: FamilyID, _ queries: any Queries
    ) async throws {
        let names = try await queries.query(CredentialStatements.usernames(in: family, besides: user)).map {
            row throws(PostgresError) -> String in try row["username"]
        }
        if names.contains(where: { folded($0) == folded(name) }) { throw APIError.userNameIsTaken }
    }
}
