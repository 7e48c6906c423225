import Contract
import Domain
import DomainSQL
import JSON
import NagzAI
import SQL
import SQLite

// What a person's questions obey, as the latest sync brought it. A value that cannot be read is an error: then no
// question is answered until a sync brings it again.
extension EventCache {
    /// The constraints that the person's questions obey, in the order of evaluation; none for a family that was never
    /// synced.
    public func constraints(of family: FamilyID) throws(SQLiteError) -> [Constraint] {
        let constraints = try database.rows(
            "SELECT c.id, c.terms FROM families f JOIN constraints c ON c.family = f.key WHERE f.id = \(family)"
        ) { row throws(SQLiteError) in
            let id: ConstraintID = try row["id"]
            let terms: ConstraintTerms = try Self.value(
                try seal.open(try row["terms"], .constraint, id), "a constraint")
            guard let constraint = try? terms.constraint(id) else { throw .unexpectedShape("a constraint") }
            return constraint
        }
        return constraints.sorted { ($0.priority, $0.id) < ($1.priority, $1.id) }
    }

    /// What the person has chosen for their questions; the standard for a family that was never synced.
    public func choices(of family: FamilyID) throws(SQLiteError) -> AIChoices {
        let choices = try database.first("SELECT choices FROM families WHERE id = \(family) AND choices IS NOT NULL") {
            row throws(SQLiteError) -> AIChoices in try Self.value(try row["choices"], "choices")
        }
        return choices ?? .standard
    }

    static func value<Value: WireReadable>(_ text: String, _ name: String) throws(SQLiteError) -> Value {
        guard let json = try? JSONValue(parsing: Array(text.utf8).span), let value = try? Value(json: json) else {
            throw .unexpectedShape(name)
        }
        return value
    }
}
