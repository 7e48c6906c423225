import Contract
import Domain
import DomainSQL
import JSON
import NagzAI
import SQL
import SQLite

extension EventCache {
    /// The constraints that the person's questions obey, as the latest sync brought them; none for a family that was
    /// never synced.
    /// - Throws: also for a constraint that cannot be read: then no question is answered until it is synced again.
    public func constraints(of family: FamilyID) throws(SQLiteError) -> [Constraint] {
        try database.rows(
            "SELECT c.id, c.terms FROM families f JOIN constraints c ON c.family = f.key WHERE f.id = \(family)"
        ) { row throws(SQLiteError) in
            let text: String = try row["terms"]
            guard let json = try? JSONValue(parsing: Array(text.utf8).span),
                let terms = try? ConstraintTerms(json: json),
                let constraint = try? terms.constraint(try row["id"])
            else { throw .unexpectedShape("a constraint") }
            return constraint
        }
    }
}
