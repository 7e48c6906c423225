import Contract
import Domain
import DomainSQL
import JSON
import NagzAI
import SQL
import SQLite

// What a person's questions obey: as the latest sync brought it, and as they said on this device. A value that cannot be
// read is an error: then no question is answered.
extension EventCache {
    /// The most constraints that a person may make for a device.
    public static let mostOwnConstraints = 50

    /// The constraints that the person's questions obey, in the order of evaluation; none for a family that was never
    /// synced.
    public func constraints(of family: FamilyID) throws(SQLiteError) -> [Constraint] {
        let synced = try constraints(
            "SELECT c.id, c.terms FROM families f JOIN constraints c ON c.family = f.key WHERE f.id = \(family)")
        return Self.inOrder(synced + (try ownConstraints(of: family)))
    }

    /// Those of them that the person made for this device alone.
    public func ownConstraints(of family: FamilyID) throws(SQLiteError) -> [Constraint] {
        Self.inOrder(
            try constraints(
                "SELECT c.id, c.terms FROM families f JOIN own_constraints c ON c.family = f.key WHERE f.id = \(family)"
            ))
    }

    /// Makes a constraint for this device alone. It stays until it is deleted, or the family is forgotten.
    /// - Returns: false for a family that was never synced, and where there are `mostOwnConstraints`.
    public func add(_ terms: ConstraintTerms, _ id: ConstraintID, of family: FamilyID) throws(SQLiteError) -> Bool {
        let text = String(decoding: terms.jsonBytes, as: UTF8.self)
        return try database.run(
            """
            INSERT INTO own_constraints (family, id, terms)
            SELECT key, \(id), \(seal.seal(text, .constraint, id)) FROM families f
            WHERE f.id = \(family)
                AND (SELECT count(*) FROM own_constraints c WHERE c.family = f.key) < \(Self.mostOwnConstraints)
            """) == 1
    }

    /// Deletes a constraint of this device.
    /// - Returns: false if it has none with that id.
    public func deleteOwnConstraint(_ id: ConstraintID) throws(SQLiteError) -> Bool {
        try database.run("DELETE FROM own_constraints WHERE id = \(id)") == 1
    }

    private func constraints(_ query: SQL) throws(SQLiteError) -> [Constraint] {
        try database.rows(query) { row throws(SQLiteError) in
            let id: ConstraintID = try row["id"]
            let terms: ConstraintTerms = try Self.value(
                try seal.open(try row["terms"], .constraint, id), "a constraint")
            guard let constraint = try? terms.constraint(id) else { throw .unexpectedShape("a constraint") }
            return constraint
        }
    }

    private static func inOrder(_ constraints: [Constraint]) -> [Constraint] {
        constraints.sorted { ($0.priority, $0.id) < ($1.priority, $1.id) }
    }

    /// Returns the person's choices for their questions; the standard for a family that was never synced.
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
