import Contract
import Domain
import NagzAI
import Postgres

/// A cache of the constraints that people obey, ready to evaluate; each loop has its own. An entry is used only while
/// the family's rights are unchanged, and is replaced at the next question after a change. Members without constraints
/// of their own share one engine.
final class EffectiveConstraints {
    /// The version of the constraints that a person obeys, read together with the facts of the person's question.
    struct Version {
        let family: FamilyID
        /// The ledger's number of the last change of rights, constraints among them.
        let seq: Int64
    }

    private struct Key: Hashable {
        let family: FamilyID
        /// The person whose own constraints are included; nil for the family's alone.
        let user: UserID?
    }

    private struct Entry {
        /// The `seq` of the `Version` for which the constraints were read.
        let seq: Int64
        let engine: PolicyEngine
        /// The estimated size of the entry.
        let bytes: Int
    }

    /// The maximum size of the cache, in estimated bytes.
    private static let sizeLimit = 32 << 20
    /// The estimated size of an entry without its constraints, in bytes.
    private static let emptyEntryBytes = 128

    private var entries: [Key: Entry] = [:]
    /// The estimated size of all entries.
    private var totalBytes = 0
    private static let emptyEngine = PolicyEngine([])

    /// Returns the cached constraints at `version`; nil if they are not cached. Without a version (the person has
    /// no family), there are no constraints.
    func cachedEngine(for user: UserID, _ version: Version?) -> PolicyEngine? {
        guard let version else { return Self.emptyEngine }
        guard let entry = entries[Key(family: version.family, user: user)], entry.seq == version.seq else { return nil }
        return entry.engine
    }

    /// Reads the constraints at `version` or later, and caches them. Without a version, there are none.
    func readEngine(for user: UserID, _ version: Version?, _ queries: any Queries) async throws -> PolicyEngine {
        guard let version else { return Self.emptyEngine }
        let key = Key(family: version.family, user: user)
        let rows = try await queries.query(ConstraintStatements.all(visibleTo: user, nil, in: version.family))
        let familyKey = Key(family: version.family, user: nil)
        let hasOwnConstraints = try (0..<rows.count).contains { try rows[$0]["owner_id"] as UserID? != nil }
        if !hasOwnConstraints, let entry = entries[familyKey], entry.seq == version.seq {
            store(Entry(seq: version.seq, engine: entry.engine, bytes: Self.emptyEntryBytes), key)
            return entry.engine
        }
        var size = Self.emptyEntryBytes
        let constraints = try rows.map { row in
            let constraint = try ConstraintResponse(row)
            for condition in constraint.terms.conditions { size += 256 + 10 * condition.value.utf8.count }
            return try constraint.terms.constraint(constraint.id)
        }
        let engine = constraints.isEmpty ? Self.emptyEngine : PolicyEngine(constraints)
        store(Entry(seq: version.seq, engine: engine, bytes: size), hasOwnConstraints ? key : familyKey)
        if !hasOwnConstraints { store(Entry(seq: version.seq, engine: engine, bytes: Self.emptyEntryBytes), key) }
        return engine
    }

    /// Caches an entry. If the cache would grow beyond its limit, it is emptied first.
    private func store(_ entry: Entry, _ key: Key) {
        if totalBytes + entry.bytes > Self.sizeLimit { (entries, totalBytes) = ([:], 0) }
        totalBytes += entry.bytes - (entries.updateValue(entry, forKey: key)?.bytes ?? 0)
    }
}
