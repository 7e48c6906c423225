import Contract
import Domain
import DomainSQL
import JSON
import NagzAI
import SQL
import SQLite

// The constraints and choices for a person's questions, from the latest sync and from this device. If one of them
// cannot be read, the methods throw, and no question is answered.
extension EventCache {
    /// The maximum number of constraints that a person may add to a device for one family.
    public static let maxOwnConstraintsPerFamily = 50

    /// Returns the constraints for the person's questions, in the order of evaluation: those of the latest sync, and
    /// those of this device.
    public func constraints(of family: FamilyID) throws(SQLiteError) -> [Constraint] {
        let syncedConstraints = try constraints(
            "SELECT c.id, c.terms FROM families f JOIN constraints c ON c.family = f.key WHERE f.id = \(family)")
        return Self.sortedByPriority(syncedConstraints + (try ownConstraints(of: family)))
    }

    /// Returns the constraints that the person added only to this device.
    public func ownConstraints(of family: FamilyID) throws(SQLiteError) -> [Constraint] {
        Self.sortedByPriority(
            try constraints(
                "SELECT c.id, c.terms FROM families f JOIN own_constraints c ON c.family = f.key WHERE f.id = \(family)"
            ))
    }

    /// Adds a constraint only to this device. It is kept until it is deleted, or the family is removed.
    /// - Returns: false if the cache has nothing of the family, or if there are `maxOwnConstraintsPerFamily` already.
    public func addOwnConstraint(
        _ terms: ConstraintTerms, _ id: ConstraintID, of family: FamilyID
    ) throws(SQLiteError) -> Bool {
        let text = String(decoding: terms.jsonBytes, as: UTF8.self)
        return try database.run(
            """
            INSERT INTO own_constraints (family, id, terms)
            SELECT key, \(id), \(seal.seal(text, .constraintTerms, id)) FROM families f
            WHERE f.id = \(family)
                AND (SELECT count(*) FROM own_constraints c WHERE c.family = f.key) < \(Self.maxOwnConstraintsPerFamily)
            """) == 1
    }

    /// Deletes a constraint of this device.
    /// - Returns: false if there is none with that ID.
    public func deleteOwnConstraint(_ id: ConstraintID) throws(SQLiteError) -> Bool {
        try database.run("DELETE FROM own_constraints WHERE id = \(id)") == 1
    }

    private func constraints(_ query: SQL) throws(SQLiteError) -> [Constraint] {
        try database.rows(query) { row throws(SQLiteError) in
            let id: ConstraintID = try row["id"]
            let terms: ConstraintTerms = try Self.parse(
                try seal.open(try row["terms"], .constraintTerms, id), "a constraint")
            guard let constraint = try? terms.constraint(id) else { throw .unexpectedShape("a constraint") }
            return constraint
        }
    }

    private static func sortedByPriority(_ constraints: [Constraint]) -> [Constraint] {
        constraints.sorted { ($0.priority, $0.id) < ($1.priority, $1.id) }
    }

    /// Returns the person's choices for their questions; the standard choices for a family that was never synced.
    public func choices(of family: FamilyID) throws(SQLiteError) -> AIChoices {
        let choices = try database.first("SELECT choices FROM families WHERE id = \(family) AND choices IS NOT NULL") {
            row throws(SQLiteError) -> AIChoices in try Self.parse(try row["choices"], "choices")
        }
        return choices ?? .standard
    }

    /// Parses a stored JSON document.
    /// - Parameter name: the name of the value in the error.
    static func parse<Value: WireReadable>(_ text: String, _ name: String) throws(SQLiteError) -> Value {
        guard let json = try? JSONValue(parsing: Array(text.utf8).span), let value = try? Value(json: json) else {
            throw .unexpectedShape(name)
        }
        return value
    }
}
