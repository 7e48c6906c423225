import Audit
import Contract
import Domain
import DomainSQL
import JSON
import NagzAI
import Postgres

extension ConstraintResponse {
    init(_ row: Row) throws {
        let owner: UserID? = try row["owner_id"]
        let terms = ConstraintTerms(
            scope: owner == nil ? .family : .own, name: try row["name"], type: try row["type"],
            isEnabled: try row["enabled"], priority: try row["priority"],
            conditions: try Self.decode(try row["conditions"]), action: try Self.decode(try row["action"]))
        self.init(
            id: try row["id"], familyID: try row["family_id"], ownerID: owner, terms: terms,
            plainText: try terms.plainText, createdBy: try row["created_by"], createdAt: try row["created_at"],
            updatedAt: try row["updated_at"])
    }

    /// Reads a constraint; nil for a row of nulls.
    init?(ifAny row: Row) throws {
        guard let _: ConstraintID = try row["id"] else { return nil }
        try self.init(row)
    }

    private static func decode<Value: WireReadable>(_ text: String) throws -> Value {
        guard let json = try? JSONValue(parsing: Array(text.utf8).span), let value = try? Value(json: json) else {
            throw PostgresError.unexpectedShape("a constraint")
        }
        return value
    }

    /// The note for the audit log, with a digest in place of the words.
    var auditNote: ConstraintNote {
        ConstraintNote(
            scope: terms.scope, priority: terms.priority, type: terms.type, isEnabled: terms.isEnabled,
            action: terms.action.kind.rawValue, conditionCount: terms.conditions.count, digest: digest)
    }

    /// SHA-256 of name, conditions and action, as JSON.
    private var digest: String {
        hexadecimal(
            sha256(
                JSONWriter.document { json in
                    json.array { json in
                        terms.name.write(to: &json)
                        terms.conditions.write(to: &json)
                        terms.action.write(to: &json)
                    }
                }))
    }
}

extension ConstraintTerms {
    /// The constraint as one sentence.
    var plainText: String {
        get throws { try constraint(ConstraintID(high: 0, low: 0)).plainText }
    }
}
