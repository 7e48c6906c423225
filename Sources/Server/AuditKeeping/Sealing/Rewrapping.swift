import Audit
import Contract
import Domain
import Postgres
import SQL

/// Wraps people's keys again with the newest master key, seals people's keys for models again with it, and retires the
/// other master keys. Once those are destroyed, no older backup can show anything about people who were
/// erased since.
///
/// Each batch, and each key for models, is a transaction. If the process dies, the finished part remains, and the next
/// run continues.
public enum Rewrapping {
    /// The error for a key that no master key unwraps.
    public struct UnknownMaster: Error, CustomStringConvertible {
        /// The key in words: whose it is, and for a key for a model the provider.
        let key: String
        public var description: String { "\(key) was wrapped by a master key that is not in the file, or changed" }
    }

    /// The error for a retired master key that still wraps keys, because a running server still uses it.
    public struct KeysInUse: Error, CustomStringConvertible {
        /// The ID of the master key.
        let master: [UInt8]
        public var description: String {
            "a server still wraps keys with master \(hexadecimal(master)): restart all servers, then run --retire"
        }
    }

    /// Counts the keys of people, together with their keys for models, that each master key wraps, by the master key's
    /// id.
    public static func keyCounts(databaseURL: String) async throws -> [(master: [UInt8], keys: Int)] {
        try await Schema.withDatabase(databaseURL) { database in
            try await database.query(RewrapStatements.keyCounts).map { row throws(PostgresError) in
                (try row["master"], try row["keys"])
            }
        }
    }

    /// The number of keys in a batch.
    public static let standardBatchSize: Int64 = 500

    /// Wraps all keys again that the newest master key does not wrap yet.
    /// - Parameter batch: the number of keys in a batch.
    /// - Returns: the number of keys that were wrapped again.
    /// - Throws: `UnknownMaster` for a key that no master key in the file unwraps.
    public static func run(
        databaseURL: String, keys: AuditKeyring, batch: Int64 = standardBatchSize
    ) async throws -> Int {
        try await Schema.withDatabase(databaseURL) { try await rewrapOutdatedKeys(keys, $0, batch) }
    }

    /// Wraps the remaining keys again, and forbids the use of the other master keys: writes of a server that was not
    /// restarted are refused. Afterwards the other master keys may be removed from the file.
    /// - Throws: `KeysInUse` if another master key was used in the meantime; nothing is lost then.
    public static func retireOldMasters(databaseURL: String, keys: AuditKeyring) async throws {
        try await Schema.withDatabase(databaseURL) { database in
            _ = try await rewrapOutdatedKeys(keys, database, standardBatchSize)
            for master in keys.masterKeys.dropFirst() {
                do {
                    try await database.transaction { try await $0.run(script: RewrapStatements.retire(master.id)) }
                } catch let error as PostgresError {
                    guard error.sqlState == "23514" else { throw error }
                    throw KeysInUse(master: master.id)
                }
            }
        }
    }

    /// Wraps people's keys again, and then seals their keys for models again.
    /// - Returns: the number of keys of both kinds.
    private static func rewrapOutdatedKeys(
        _ keys: AuditKeyring, _ database: Database, _ batch: Int64
    ) async throws -> Int {
        let newest = keys.masterKeys[0]
        let sealing = Sealing(keys, random: SystemRandomness())
        var (count, last) = (0, Pseudonym(high: 0, low: 0))
        while true {
            let rows = try await database.query(RewrapStatements.keys(notWrappedBy: newest.id, after: last, batch))
            guard rows.count > 0 else { return count + (try await resealKeysForModels(keys, sealing, database, batch)) }
            var rewrapped: [(person: Pseudonym, wrapped: [UInt8])] = []
            for row in rows {
                let person: Pseudonym = try row["id"]
                guard
                    let key = sealing.unwrap(try row["wrapped"], of: person, master: try row["master"])
                else { throw UnknownMaster(key: "the key of \(person)") }
                rewrapped.append((person, newest.wrap(key, nonce: sealing.nonce())))
                last = person
            }
            _ = try await database.query(RewrapStatements.update(rewrapped, newest.id))
            count += rewrapped.count
        }
    }

    private static func resealKeysForModels(
        _ keys: AuditKeyring, _ sealing: Sealing, _ database: Database, _ batch: Int64
    ) async throws -> Int {
        let newest = keys.masterKeys[0]
        var count = 0
        while true {
            let rows = try await database.query(AIKeyStatements.keysSealedByOthers(than: newest.id, batch))
            guard rows.count > 0 else { return count }
            for row in rows {
                let old = try StoredAIKey(row)
                guard let new = old.resealed(keys, by: newest, nonce: sealing.nonce()) else {
                    throw UnknownMaster(key: "the key of \(old.user) for \(old.response.provider.rawValue)")
                }
                _ = try await database.query(AIKeyStatements.replaceSealedSecret(of: old, with: new))
                count += 1
            }
        }
    }
}

/// The statements that wrap people's keys again and retire master keys.
enum RewrapStatements {
    static let keyCounts: SQL = """
        SELECT master, count(*)::bigint AS keys
        FROM (SELECT master FROM audit_subject_key UNION ALL SELECT master FROM ai_keys) k GROUP BY master ORDER BY master
        """

    static func keys(notWrappedBy master: [UInt8], after person: Pseudonym, _ limit: Int64) -> SQL {
        """
        SELECT id, master, wrapped FROM audit_subject_key WHERE id > \(person) AND master <> \(master)
        ORDER BY id LIMIT \(limit)
        """
    }

    /// Stores keys that were wrapped again. A person who was erased meanwhile has no key, and gets none.
    static func update(_ keys: [(person: Pseudonym, wrapped: [UInt8])], _ master: [UInt8]) -> SQL {
        """
        UPDATE audit_subject_key k SET master = \(master), wrapped = n.wrapped
        FROM unnest(\(SQLList(keys.map(\.person))), \(SQLList(keys.map(\.wrapped)))) AS n (id, wrapped)
        WHERE k.id = n.id
        """
    }

    /// Returns statements that add constraints, which forbid keys wrapped by the master key. They fail while it still
    /// wraps any key.
    static func retire(_ master: [UInt8]) -> String {
        let name = "audit_master_\(hexadecimal(master))_is_retired"
        return """
            ALTER TABLE audit_subject_key DROP CONSTRAINT IF EXISTS \(name);
            ALTER TABLE audit_subject_key ADD CONSTRAINT \(name) CHECK (master <> '\\x\(hexadecimal(master))');
            ALTER TABLE ai_keys DROP CONSTRAINT IF EXISTS \(name);
            ALTER TABLE ai_keys ADD CONSTRAINT \(name) CHECK (master <> '\\x\(hexadecimal(master))');
            """
    }
}
