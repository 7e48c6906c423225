import Audit
import Domain
import Postgres
import SQL

/// Wraps the keys of people anew, with the newest master key, so that an older one can be destroyed: then no backup from
/// before can be read of those who were erased since.
public enum Rewrapping {
    /// A key that none of the master keys unwraps.
    public struct UnknownMaster: Error, CustomStringConvertible {
        let person: Pseudonym
        public var description: String { "the key of \(person) was wrapped by a master key that is not in the file" }
    }

    /// - Returns: how many keys were wrapped anew.
    public static func run(databaseURL: String, keys: TrailKeys) async throws -> Int {
        try await Schema.onDatabase(databaseURL) { database in
            guard let newest = keys.masters.first else { return 0 }
            let sealing = Sealing(keys, random: SystemRandomness())
            var count = 0
            while true {
                let rows = try await database.query(RewrapStatements.outdated(newest.id))
                guard rows.count > 0 else { return count }
                try await database.transaction { transaction in
                    for index in 0..<rows.count {
                        let person: Pseudonym = try rows[index]["id"]
                        guard
                            let key = sealing.unwrap(
                                try rows[index]["wrapped"], of: person, master: try rows[index]["master"])
                        else { throw UnknownMaster(person: person) }
                        let wrapped = newest.wrap(key, nonce: sealing.nonce())
                        _ = try await transaction.query(RewrapStatements.update(person, newest.id, wrapped))
                    }
                }
                count += rows.count
            }
        }
    }
}

/// Every statement by which keys of people are wrapped anew.
enum RewrapStatements {
    static func outdated(_ master: [UInt8]) -> SQL {
        "SELECT id, master, wrapped FROM audit_subject_key WHERE master <> \(master) ORDER BY id LIMIT 500"
    }

    static func update(_ person: Pseudonym, _ master: [UInt8], _ wrapped: [UInt8]) -> SQL {
        "UPDATE audit_subject_key SET master = \(master), wrapped = \(wrapped) WHERE id = \(person)"
    }
}
