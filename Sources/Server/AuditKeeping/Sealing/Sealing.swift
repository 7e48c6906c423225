import Audit
import Domain
import Postgres
import SQL

/// Seals the bodies of the entries that one event loop writes, each with the key of the person whom the entry is about.
///
/// A person's key is created for the first act about them. That act stores it in the database, wrapped by the master
/// key, in the same transaction as the body that it seals.
final class Sealing {
    /// The error for a person's key that was wrapped by a master key which is not in the file, or that was changed.
    struct UnknownMasterKey: Error {}

    /// The key that an act's details are sealed with.
    struct Seal {
        let key: SubjectKey
        /// The act's statement that stores a new key; nil for a key that was stored before.
        var keyInsertion: SQL?
    }

    private static let maxCachedKeys = 8_192

    private let keys: AuditKeyring?
    private let random: any Randomness
    private var cachedKeys: [Pseudonym: SubjectKey] = [:]

    /// - Parameter keys: the keys; nil leaves bodies unsealed, for throw-away data.
    init(_ keys: AuditKeyring?, random: any Randomness) {
        self.keys = keys
        self.random = random
    }

    /// Returns the person's stored key, or a new one if there is none; nil where nothing is sealed.
    func makeSeal(for person: Pseudonym, _ queries: any Queries) async throws -> Seal? {
        guard let master = keys?.masterKeys.first else { return nil }
        if let key = cachedKeys[person] { return Seal(key: key) }
        guard let row = try await queries.read(SubjectKeyStatements.key(person)).first else {
            let key = SubjectKey(id: person, secret: random.bytes(32))
            let wrapped = master.wrap(key, nonce: random.bytes(24))
            return Seal(key: key, keyInsertion: SubjectKeyStatements.insert(person, master: master.id, wrapped))
        }
        guard let key = unwrap(try row["wrapped"], of: person, master: try row["master"]) else {
            throw UnknownMasterKey()
        }
        cache(key)
        return Seal(key: key)
    }

    /// Caches a key, so that the next act need not read it. The key MUST have been stored before.
    func cache(_ key: SubjectKey) {
        if cachedKeys.count >= Self.maxCachedKeys { cachedKeys.removeAll(keepingCapacity: true) }
        cachedKeys[key.id] = key
    }

    /// Unwraps a stored key; nil without the master key that wrapped it, and for a key that was changed.
    func unwrap(_ wrapped: [UInt8], of person: Pseudonym, master: [UInt8]) -> SubjectKey? {
        keys?.masterKeys.first { $0.id == master }?.unwrap(wrapped, id: person)
    }

    /// Returns a random nonce of 24 bytes.
    func nonce() -> [UInt8] { random.bytes(24) }
}

/// The statements that read and store people's keys.
enum SubjectKeyStatements {
    static func key(_ person: Pseudonym) -> SQL {
        "SELECT master, wrapped FROM audit_subject_key WHERE id = \(person)"
    }

    /// Reads one wrapped key of each master key.
    static let oneKeyPerMaster: SQL =
        "SELECT DISTINCT ON (master) id, master, wrapped FROM audit_subject_key ORDER BY master"

    /// Returns a part of an act, which stores a key. It violates `ConstraintName.subjectKey` where another act stored
    /// one first.
    static func insert(_ person: Pseudonym, master: [UInt8], _ wrapped: [UInt8]) -> SQL {
        "INSERT INTO audit_subject_key (id, master, wrapped) SELECT \(person), \(master), \(wrapped) FROM ledger_stamp"
    }
}

/// The body of a stored entry, opened if it was sealed.
enum StoredBody {
    case whole(salt: [UInt8], body: [UInt8])
    /// Body and salt are deleted.
    case erased
    /// The body cannot be opened: its key is missing, or it was changed.
    case unreadable

    var bytes: [UInt8]? {
        if case .whole(_, let body) = self { body } else { nil }
    }
}

extension Sealing {
    /// Opens the body of a row with the columns `commit`, `salt`, `body` and `key_id`, and `master` and `wrapped` of
    /// the key.
    func openBody(of row: Row) throws(PostgresError) -> StoredBody {
        guard let salt: [UInt8] = try row["salt"], let body: [UInt8] = try row["body"] else { return .erased }
        guard let person: Pseudonym = try row["key_id"] else { return .whole(salt: salt, body: body) }
        guard let master: [UInt8] = try row["master"], let wrapped: [UInt8] = try row["wrapped"],
            let key = cachedKey(of: person) ?? unwrap(wrapped, of: person, master: master),
            let openedBody = key.open(body, commitment: try row["commit"])
        else { return .unreadable }
        return .whole(salt: salt, body: openedBody)
    }

    private func cachedKey(of person: Pseudonym) -> SubjectKey? { cachedKeys[person] }
}
