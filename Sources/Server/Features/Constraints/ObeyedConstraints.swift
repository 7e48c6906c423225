import Contract
import Domain
import NagzAI
import Postgres

/// The constraints that people obey, ready to evaluate. Those of one loop are kept until the family's rights change: one
/// set for all members without constraints of their own, and one for each of the others.
final class ObeyedConstraints {
    /// The state of the constraints that a question has read with its facts.
    struct Version {
        let family: FamilyID
        /// Whether any constraint of the family is in force, and any of the person's own.
        let hasFamilyConstraints: Bool
        let hasOwnConstraints: Bool
        /// The ledger's number of the last change of rights, constraints among them; nil where it was not read.
        let seq: Int64?
    }

    private struct Key: Hashable {
        let family: FamilyID
        /// Nil for the members without constraints of their own.
        let user: UserID?
    }

    private struct Entry {
        let seq: Int64
        let engine: PolicyEngine
        let bytes: Int
    }

    /// Bytes of the constraints kept, roughly.
    private static let room = 32 << 20

    private var entries: [Key: Entry] = [:]
    private var bytes = 0
    private static let nothing = PolicyEngine([])

    /// The constraints at `version` or later.
    func engine(for user: UserID, _ version: Version?, _ queries: any Queries) async throws -> PolicyEngine {
        guard let version, version.hasFamilyConstraints || version.hasOwnConstraints else { return Self.nothing }
        let key = Key(family: version.family, user: version.hasOwnConstraints ? user : nil)
        if let seq = version.seq, let entry = entries[key], entry.seq == seq { return entry.engine }
        let scope: ConstraintScope? = version.hasOwnConstraints ? nil : .family
        let rows = try await queries.query(ConstraintStatements.all(of: user, scope, in: version.family))
        var size = 0
        let constraints = try rows.map { row in
            let constraint = try ConstraintResponse(row)
            for condition in constraint.terms.conditions { size += 256 + 10 * condition.value.utf8.count }
            return try constraint.terms.constraint(constraint.id)
        }
        let engine = PolicyEngine(constraints)
        if let seq = version.seq { keep(Entry(seq: seq, engine: engine, bytes: size), key) }
        return engine
    }

    private func keep(_ entry: Entry, _ key: Key) {
        if bytes + entry.bytes > Self.room { (entries, bytes) = ([:], 0) }
        bytes += entry.bytes - (entries.updateValue(entry, forKey: key)?.bytes ?? 0)
    }
}
