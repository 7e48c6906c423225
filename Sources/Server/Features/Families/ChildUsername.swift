import Contract
import Domain
import Postgres

/// The user names of a family's children, which are compared without regard to case.
///
/// PostgreSQL 15 has no case folding, so a family's few names are compared here: `Straße` equals `STRASSE`.
enum ChildUsername {
    /// Returns the form of a name that is the same for all its spellings in upper and lower case.
    static func folded(_ name: String) -> String { name.uppercased().lowercased() }

    /// Returns the row whose `username` has the same folded form as a name; nil if there is none. Several rows can have
    /// that form, because names were once stored without a check of it. Then the result is the row whose name equals
    /// the given one in lower case, if there is one.
    static func find(_ name: String, in rows: Rows) throws(PostgresError) -> Row? {
        var foldedMatch: Row?
        for row in rows.map({ $0 }) {
            let other: String = try row["username"]
            if other.lowercased() == name.lowercased() { return row }
            if folded(other) == folded(name) { foldedMatch = row }
        }
        return foldedMatch
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
